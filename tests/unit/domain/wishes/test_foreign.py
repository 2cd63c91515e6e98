"""Explicit standing rules in German, Spanish, French and Japanese."""

import pytest

from models.domain.wishes.conversation import read_conversation
from models.domain.wishes.foreign import find_foreign_rules

STATED = """
Ab jetzt bitte immer auf Deutsch antworten.|Antworte mir bitte nur noch auf Englisch.
Verwende niemals Emojis in deinen Antworten.|Bitte keine Aufzählungen mehr.|In Zukunft will ich kurze Antworten.
A partir de ahora responde en español.|Nunca uses emojis.|Por favor, no me escribas en mayúsculas.
Siempre incluye las fuentes.|De ahora en adelante quiero respuestas cortas.
Désormais, réponds-moi en français.|N'utilise jamais d'emojis.|Merci de ne plus me tutoyer.
S'il te plaît, ne mets pas de listes.|Utilise toujours le système métrique.
今後は日本語で答えてください。|絵文字は絶対に使わないでください。|いつも簡潔に答えてください。
これからは敬語を使わないでください。|必ず出典を示してください。
"""
TALK = """
Ich habe nie in Berlin gewohnt.|Immer diese Baustellen.|Er sagte, ich soll nie wieder anrufen.|Bitte schick mir die Datei.
Schreib mir heute einen Brief.|Nie gesehen, so etwas.|Siempre he querido ir a Perú.|Nunca me ha gustado el café.
¿Por qué nunca llueve aquí?|Por favor, tradúceme esta frase.|La reunión siempre es los lunes.
Je ne suis jamais allé à Lyon.|Il ne pleut jamais ici.|Merci de ton aide.|Peux-tu m'écrire un poème ?
いつもありがとう。|今日は天気がいいですね。|彼は絶対に来ないと言った。|The ne plus ultra of tea.
Sie schrieb "Bitte keine Emojis mehr" an die Tafel.
"""


def list_sayings(table: str) -> list[str]:
    return [one for line in table.strip().splitlines() for one in line.split("|")]


@pytest.mark.parametrize("said", list_sayings(STATED))
def test_an_explicit_rule_in_another_language_is_certain_without_a_model(said: str) -> None:
    assert read_conversation(said).is_rule


@pytest.mark.parametrize("said", list_sayings(TALK))
def test_talk_in_another_language_is_no_rule(said: str) -> None:
    assert find_foreign_rules(said) == []
