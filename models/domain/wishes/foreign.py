"""Standing rules in German, Spanish, French and Japanese, in their explicit forms only (memory-model.md section 9).

"ab jetzt", "a partir de ahora", "désormais", 今後は with what follows; "immer", "nunca", "jamais", 絶対に beside a
command; "bitte keine …", "por favor, no …", "merci de ne pas …", …ないでください; "answer in" a language. Wishes without
such a form ("Ich bin Vegetarier") are not found. Only words that English does not have open these patterns.
"""

import re
from typing import Final

from models.domain.grammar.clauses import hide_quoted_speech
from models.domain.grammar.spans import Modality, RuleSpan

_SENTENCE: Final = re.compile(r"[^.!?\n。！？]+[.!?。！？]*")
_MAX_CHARACTERS: Final = 300
_MAX_SENTENCES: Final = 400
# What takes the force out of a form: a question, a report, one occasion.
_NO_RULE: Final = re.compile(
    r"[?？]\s*$"
    r"|\b(?:sagte|sagt|meinte|gesagt|heute|morgen|gerade|dijo|dice|dijeron|hoy|mañana"
    r"|dit que|a dit|disait|aujourd'hui|demain)\b"
    r"|と言った|と言って(?:た|い)|って言|今日|明日",
    re.IGNORECASE,
)
_COMMAND_DE: Final = (
    r"(?:antworte|schreib|sprich|nenn|sag|verwend|benutz|nutz|nimm|gib|zeig|frag|halt|mach|bleib|lass|schick|plan|buch"
    r"|erwähn|lösch|änder|committe|push|formatier|übersetz|rechne|empfiehl|schlag)e?"
)
_FORMS: Final = {
    "de": (
        rf"\b(?:ab jetzt|ab sofort|ab heute|von jetzt an|von nun an|künftig|zukünftig|in zukunft)\b[^?]*"
        rf"\b(?:{_COMMAND_DE}|bitte|sollst du|will ich|möchte ich|nur noch|keine?n?|nicht mehr|immer|nie)\b",
        rf"^\W*(?:(?:und|also|bitte|ok|okay),? )*{_COMMAND_DE}\b[^,;]*"
        r"\b(?:immer|stets|nie|niemals|grundsätzlich|nur noch)\b",
        r"^\W*(?:(?:und|also),? )*bitte (?:immer|nie|niemals|nie wieder)\b[^,;]*\w+en\b",
        rf"^\W*bitte (?:mir |{_COMMAND_DE}\b[^,;]*\b)?(?:keine?n?|nie|niemals|nicht mehr)\b",
        r"\b(?:bitte )?(?:antworte|schreib|sprich|rede)e?(?: mir| mit mir| bitte)*(?: immer| nur)? (?:auf|in) "
        r"(?:deutsch|englisch|französisch|spanisch|japanisch|italienisch)\b",
    ),
    "es": (
        r"\b(?:a partir de ahora|de ahora en adelante|de hoy en adelante|desde ahora|en adelante|en lo sucesivo)\b\W+\w+",
        r"^\W*(?:por favor,? )?(?:siempre|nunca|jamás) (?!he\b|ha\b|me (?:ha|gust)|es\b|está\b|fue\b|había\b)\w+",
        r"^\W*(?:por favor,? )?no (?:me )?(?:uses|utilices|respondas|escribas|digas|pongas|hagas|envíes|mandes|sugieras"
        r"|recomiendes|añadas|borres|cambies|menciones|incluyas|hables|llames|vuelvas a)\b",
        r"\b(?:respónde(?:me)?|responde(?:me)?|contesta(?:me)?|contésta(?:me)?|escríbe(?:me)?|escribe(?:me)?"
        r"|háblame|habla)(?: siempre| solo| sólo)? en "
        r"(?:español|inglés|alemán|francés|japonés|italiano|portugués|castellano)\b",
    ),
    "fr": (
        r"\b(?:à partir de maintenant|à partir d'aujourd'hui|désormais|dorénavant|à l'avenir)\b\W+\w+",
        r"^\W*(?:s'il te pla[iî]t,? |s'il vous pla[iî]t,? |stp,? |svp,? )?(?:n'|ne )[^,;]*\bjamais\b",
        r"^\W*(?:merci de|s'il te pla[iî]t,?|s'il vous pla[iî]t,?|stp,?|svp,?|prière de) "
        r"(?:toujours |(?:de )?ne (?:pas|plus|jamais) "
        r"|n'\w+|ne \w+ (?:pas|plus)\b)",
        r"^\W*(?:utilise|réponds|écris|donne|mets|parle|cite|garde|vérifie|demande|évite|propose|commence|termine|fais)[sz]?"
        r"(?:ez)?(?:-moi)? toujours\b",
        r"\b(?:réponds|répondez|écris|écrivez|parle|parlez)(?:-moi)?(?: toujours| seulement| uniquement)? en "
        r"(?:français|anglais|allemand|espagnol|japonais|italien)\b",
    ),
    "ja": (
        r"(?:今後は?|これからは|これから先|以後)[^。？]*"
        r"(?:て(?:ください|下さい|ほしい|欲しい|くれ)|で(?:ください|下さい|ほしい|欲しい)|しないで"
        r"|お願いします|ように|すること|こと$)",
        r"(?:常に|いつも|必ず|毎回)[^。？]*(?:て(?:ください|下さい|ほしい|欲しい|くれ)|で(?:ください|下さい)|お願いします|こと$)",
        r"(?:絶対に?|決して|二度と)[^。？]*(?:ないで|しないこと|使うな|するな|禁止)",
        r"(?:使わ|し|言わ|書か|送ら|入れ|呼ば|提案し|付け|変え)ないで(?:ください|下さい|ほしい|欲しい)",
        r"(?:日本語|英語|ドイツ語|フランス語|スペイン語)で(?:答え|返事し|回答し|返信し|書い|話し)て",
    ),
}
_BAN: Final = re.compile(
    r"\b(?:nie|niemals|nicht|keine?n?|nunca|jamás|no|ne|n'|jamais)\b|n'|ないで|するな|使うな|禁止|しないこと",
    re.IGNORECASE,
)
_ANY: Final = re.compile(
    "|".join(f"(?:{form})" for forms in _FORMS.values() for form in forms), re.IGNORECASE
)
# No form is without one of these, and most English text is: read first, and alone, for speed.
_HINT: Final = re.compile(
    r"[äöüßáéíóúñàâèêëîïôùûçÀ-ÿ\u3040-\u30ff\u4e00-\u9fff]"
    r"|\b(?:ab jetzt|ab sofort|von (?:jetzt|nun) an|in zukunft|bitte|immer"
    r"|nie|niemals|antworte|sprich|schreibe?|a partir de ahora|de ahora en adelante|en adelante|siempre|nunca|por favor"
    r"|responde|contesta|escribe|no uses|jamais|merci de|stp|svp|s'il te plait|ne|parle|toujours|utilise)\b",
    re.IGNORECASE,
)


def find_foreign_rules(text: str) -> list[RuleSpan]:
    """Return the standing rules in other languages than English; the action stays unnamed, nobody compares it.

    >>> [str(span.modality) for span in find_foreign_rules("Ab jetzt bitte keine Emojis mehr.")]
    ['prohibition']
    >>> find_foreign_rules("Please answer in German.")
    []
    """
    if _HINT.search(text) is None:
        return []
    said = hide_quoted_speech(text)
    found = []
    for place, sentence in enumerate(_SENTENCE.finditer(said)):
        if place == _MAX_SENTENCES:
            break
        words = sentence[0]
        if len(words) > _MAX_CHARACTERS or _NO_RULE.search(words) is not None:
            continue
        match = _ANY.search(words)
        if match is not None:
            force = Modality.PROHIBITION if _BAN.search(words) else Modality.OBLIGATION
            start = sentence.start() + len(words) - len(words.lstrip())
            end = sentence.start() + len(words.rstrip())
            found.append(RuleSpan(modality=force, start=start, end=end, action="", cue=match[0].strip()[:40]))
    return found
