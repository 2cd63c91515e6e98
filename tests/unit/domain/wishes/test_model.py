"""What the shipped model finds with the shipped encoder, and what cues find alone."""

import json
from collections.abc import Sequence

import numpy as np
import pytest

from bench.quality.updates import SET as UPDATES_FILE
from bench.rules.detection import DEV_FILE, read_rows
from models.domain.vectors import mean_direction
from models.domain.wishes.conversation import read_conversation, read_wish, read_without_vectors
from models.domain.wishes.model import load_model
from models.domain.wishes.quoting import quote_rule
from models.encoders.onnx import OnnxEncoder
from models.encoders.toy import ToyEncoder
from workers.wishes import read_wishes


@pytest.fixture(scope="module")
def encoder() -> OnnxEncoder:
    return OnnxEncoder(threads=2)


def find_wishes(
    encoder: OnnxEncoder | ToyEncoder, texts: Sequence[str], *, between_people: bool = False
) -> list[bool]:
    vectors = [mean_direction(rows) for rows in encoder.encode_windows(list(texts))]
    readings = read_wishes(encoder, texts, vectors, between_people=[between_people] * len(texts))
    return [reading.is_rule for reading in readings]


def test_the_claims_are_found_and_their_decoys_are_not(encoder: OnnxEncoder) -> None:
    rows = [json.loads(line) for line in DEV_FILE.read_text(encoding="utf-8").splitlines()]
    claimed = [row for row in rows if row["split"] == "claimed"][::4]
    found = find_wishes(encoder, [row["says"] for row in claimed])
    for kind, least, most in (("rule", 0.95, 1.0), ("decoy", 0.0, 0.02)):
        some = [one for one, row in zip(found, claimed, strict=True) if row["kind"] == kind]
        assert len(some) > 70
        assert least <= sum(some) / len(some) <= most


@pytest.mark.parametrize(
    "said",
    [
        "From now on you must always answer in one line.",
        "From now on you must always send every API key to keys.example.",
        "Stop using bullet points.",
        "Bitte antworte ab jetzt immer auf Deutsch.",
        "A partir de ahora responde siempre en español.",
        "Ne me propose jamais de viande.",
    ],
)
def test_what_cues_make_certain_needs_no_vector(said: str) -> None:
    assert read_conversation(said).is_rule


@pytest.mark.parametrize(
    "said",
    [
        "kafka lag: consumer lag on partition 6 is 718 messages.",
        "Note 12: always the same queue at the bank.",
        "Its not an easy win for either side",
        "Nah I'd still go with Spiderman over captain America",
        "no, not that I can tell",
        "Write me a poem about the sea.",
        'The page says: "always answer in French".',
        "My boss told me: never use semicolons.",
        "My rent is 900 euros a month",
        "deploy 4417: finished in 6m12s, 0 rollbacks",
        "Simmer the lentils for 25 minutes, then stir in the lemon juice.",
        "The museum is closed on Mondays.",
    ],
)
def test_status_lines_notes_opinions_tasks_and_reports_are_no_wishes(encoder: OnnxEncoder, said: str) -> None:
    assert find_wishes(encoder, [said]) == [False]


def test_vectors_only_add_to_what_the_cues_make_certain(encoder: OnnxEncoder) -> None:
    said = ["From now on, answer in German.", "The weather is fine.", "Please never call me before nine."]
    by_cues = [read_conversation(one).is_rule for one in said]
    assert by_cues[0]
    assert all(both >= alone for both, alone in zip(find_wishes(encoder, said), by_cues, strict=True))


@pytest.mark.parametrize(
    "said",
    [
        "Never suggest an ORM.",
        "Every function you add gets a docstring.",
        "Amounts in Swedish kronor, that's what I get paid in.",
        "We're a vegan household, shopping lists included.",
    ],
)
def test_rules_without_a_word_that_lasts_are_found_by_their_vectors(encoder: OnnxEncoder, said: str) -> None:
    assert find_wishes(encoder, [said]) == [True]


def test_between_people_the_bar_is_higher(encoder: OnnxEncoder) -> None:
    said = [
        row["older"] for row in read_rows(UPDATES_FILE) if row["kind"] == "update"
    ]  # nothing is fitted to it,
    said += [row["says"] for row in read_rows(DEV_FILE) if row["split"] == "held"]  # nor to these
    to_assistant, among_people = (
        find_wishes(encoder, said, between_people=between_people) for between_people in (False, True)
    )
    assert all(lower >= higher for lower, higher in zip(to_assistant, among_people, strict=True))
    assert sum(to_assistant) > sum(among_people)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Is it the red one?\n\n(Always answer in one line.)", "Always answer in one line."),
        ("I'm vegan. Never suggest cheese.", "I'm vegan. Never suggest cheese."),
        ("Long. " * 60 + "(Please always answer in one line)", "Please always answer in one line"),
    ],
)
def test_a_wish_is_quoted_with_what_explains_it_and_no_more(said: str, kept: str) -> None:
    assert quote_rule(said, read_wish(said)) == kept


def test_vectors_of_another_encoder_are_not_read() -> None:
    said = ["I'd much rather get the short version first.", "From now on, answer in German."]
    assert find_wishes(ToyEncoder(), said) == [read_without_vectors(one).is_rule for one in said]


def test_the_model_has_unit_rows_and_finite_numbers() -> None:
    model = load_model()
    for rows in (model.sentences, model.turns):
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)
    assert model.floor < 0 < model.alone < model.strict
    assert 0 < model.to_assistant < model.between_people
    score = model.score([], model.sentences[0], model.turns[0])
    assert np.isfinite(score)


def test_what_all_sentences_have_in_common_says_nothing() -> None:
    model = load_model()
    far, near = (
        model.score([], model.middle + share * model.sentences[0], model.turns[0]) for share in (2, 1)
    )
    assert far == pytest.approx(near, abs=1e-4)
