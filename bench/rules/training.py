"""Fits the model that tells a standing wish from other talk, and writes it down as `models/domain/wishes/wishes.npz`.

    python -m bench.rules.training --data DIR --talk FILE            # cross-validate, write nothing
    python -m bench.rules.training --data DIR --talk FILE --write    # fit on everything, write the model and the verdicts

FILE is more talk in which nobody states a wish, as `python -m bench.rules.talk` draws it; without it, what is found of
talk with an assistant is right less often.

Three models over the sentences that `list_sentences` gives. Two are logistic regressions with an L2 penalty:
structural cues alone, which say what is certain where words do not speak against it; and cues and words, which choose
the sentences that are encoded and speak alone where no encoder is. Cues, words and vectors: ridge regression on the
support vectors of a support vector machine (kernel in `models.domain.wishes.model`), where a sentence's vector is
what `encode_phrasing` gives, less the mean of all. The machine says which sentences to keep; the regression, over all
of them, what those are worth: two or three rules in a hundred more than by the machine's own weights. They learn from
`sets/standing_rules_dev.jsonl` but for its split "held", `sets/standing_rules.jsonl`,
`sets/standing_rules_fresh.jsonl` and real talk, in which nobody rules but where `labels/conversation_rules.jsonl`
says so. The unseen sets are never read. A rule of several sentences counts as its heaviest.

Cross-validation holds back a whole source of talk at a time, and a fifth of the made sentences with it. Thresholds are
found in talk of sources the model never saw: between people as many turns are taken for wishes, rightly or
not, as FOUND_PER_1000 says; to an assistant, of whom far more is asked that lasts, as many wrongly as WRONG_PER_1000 says.
"""

import argparse
import json
import os
import pathlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import solve
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from bench.quality.rules import CASES_FILES, UNSEEN
from bench.rules.detection import DEV_FILE, LABELS, load_user_turns, read_rows
from models.domain.vectors import mean_direction
from models.domain.wishes.conversation import list_sentences
from models.domain.wishes.model import MODEL_FILE, SECONDED, SHARPNESS, TURN_SHARE, centre_rows
from models.encoders.registry import load_encoder

MODEL_PATH: Final = pathlib.Path(__file__).parents[2] / "models" / "domain" / "wishes" / MODEL_FILE
HELD_OUT: Final = pathlib.Path(__file__).parents[1] / "labels" / "wishes_held_out.json"
FOLDS: Final = 5
PENALTY: Final = 10.0  # L2 of the cues' weights; the bias goes free
SLACK: Final = 2.0  # C of the support vector machine
RIDGE: Final = 0.1
JITTER: Final = 2e-3  # added to the diagonal: a sentence that is said twice has one vector
MADE_WEIGHT: Final = 2.0
KEPT_APART: Final = UNSEEN | {"held"}  # splits that are not learned from
MIN_CUES: Final = 5  # a structural cue seen less often is left out
MIN_WORDS: Final = 4  # and a word in fewer made sentences
LEARNED_FROM: Final = -2.8  # of the weight of cues and words: what is lighter teaches nothing
FLOOR: Final = -2.2  # and what is lighter than this is not encoded
FOUND_PER_1000: Final = 3.8  # between people
WRONG_PER_1000: Final = 1.5  # to an assistant
ALONE_PER_1000: Final = 3.8  # wrong where there are no vectors
STRICT_AT_MOST: Final = 3.0  # of structure's weight: "From now on you must always …" weighs 3.1
STRICT_PER_1000: Final = 0.4  # where cues are certain beside vectors
TALK: Final = "talk: "
PEOPLE: Final = tuple(TALK + source for source in ("ubuntu-irc", "gitter", "locomo"))
ASSISTED: Final = tuple(
    TALK + source for source in ("longmemeval", "coding-agent", "schema-guided", "taskmaster")
)
Matrix = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Matrix]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn of talk or a made sentence, and whether it states a rule."""

    id: str
    text: str
    source: str
    is_rule: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """Every sentence of all turns that can be a rule: its turn, its cues, what cues alone and vectors say of it."""

    owners: NDArray[np.int64]
    cues: list[frozenset[str]]
    texts: list[str]


def load_turns(folder: pathlib.Path, more_talk: pathlib.Path | None = None) -> list[Turn]:
    """The made sentences but for the unseen, and real talk with a reader's verdict where there is one."""
    made = [
        Turn(id=row["id"], text=row["says"], source=row["split"], is_rule=row["kind"] == "rule")
        for path in (DEV_FILE, *CASES_FILES)
        for row in read_rows(path)
        if row["split"] not in KEPT_APART
    ]
    verdicts = {row["id"]: bool(row["rule"]) for row in read_rows(LABELS)}
    known = [
        Turn(id=key, text=talk.text, source=TALK + talk.source, is_rule=verdicts.get(key, False))
        for key, talk in load_user_turns(folder).items()
    ]
    more = [
        Turn(id=f"more:{place}", text=row["text"], source=TALK + row["source"], is_rule=False)
        for place, row in enumerate(read_rows(more_talk) if more_talk else [])
    ]
    return made + known + more


def split_turns(turns: Sequence[Turn]) -> Sentences:
    """The sentences of all turns."""
    found = [(place, *one) for place, turn in enumerate(turns) for one in list_sentences(turn.text)]
    return Sentences(
        owners=np.array([place for place, _, _ in found]),
        texts=[text for _, text, _ in found],
        cues=[cues for _, _, cues in found],
    )


def deal_folds(turns: Sequence[Turn]) -> NDArray[np.int64]:
    """The fold of each turn: a source of talk whole, the made ones in turn."""
    sources = sorted({turn.source for turn in turns if turn.source.startswith(TALK)})
    shuffled = np.random.RandomState(0).permutation(len(turns))
    return np.array(
        [
            sources.index(turn.source) % FOLDS if turn.source in sources else shuffled[place] % FOLDS
            for place, turn in enumerate(turns)
        ]
    )


def tabulate(cues: Sequence[frozenset[str]], names: Sequence[str]) -> sparse.csr_matrix:
    """A row of zeros and ones for each sentence."""
    places = {name: place for place, name in enumerate(names)}
    columns = [sorted(places[cue] for cue in some if cue in places) for some in cues]
    starts = np.cumsum([0, *map(len, columns)])
    flat = np.array([place for row in columns for place in row], dtype=np.int64)
    return sparse.csr_matrix((np.ones(len(flat), np.float32), flat, starts), shape=(len(cues), len(names)))


def is_word(cue: str) -> bool:
    """Whether a cue is a word or an opening of two."""
    return cue.startswith(("word:", "opens:"))


class Trainer:
    """Fits the models on the turns it is told to, and scores all of them."""

    def __init__(
        self, turns: Sequence[Turn], sentences: Sentences, encode_turns: Encode, encode_sentences: Encode
    ) -> None:
        self.turns, self.sentences = turns, sentences
        self.is_rule = np.array([turn.is_rule for turn in turns])
        self.weights = np.array([1.0 if turn.source.startswith(TALK) else MADE_WEIGHT for turn in turns])
        counts = Counter(cue for cues in sentences.cues for cue in cues)
        made = Counter(
            cue
            for owner, cues in zip(sentences.owners, sentences.cues, strict=True)
            if not turns[owner].source.startswith(TALK)
            for cue in cues
        )
        structural = sorted(cue for cue, count in counts.items() if not is_word(cue) and count >= MIN_CUES)
        self.names = structural + sorted(
            cue for cue, count in made.items() if is_word(cue) and count >= MIN_WORDS
        )
        self.by_words = tabulate(sentences.cues, self.names)
        self.by_cues = self.by_words[:, : len(structural)]
        self.encode_turns, self.encode_sentences = encode_turns, encode_sentences

    def choose_ruling(self, heaviness: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The rows to learn from: every sentence of other turns, of a rule the heaviest one."""
        heaviest: dict[int, int] = {}
        for row in np.flatnonzero(known & self.is_rule[self.sentences.owners]):
            owner = int(self.sentences.owners[row])
            if owner not in heaviest or heaviness[row] > heaviness[heaviest[owner]]:
                heaviest[owner] = int(row)
        others = np.flatnonzero(known & ~self.is_rule[self.sentences.owners])
        return np.concatenate([np.array(sorted(heaviest.values()), dtype=np.int64), others])

    def fit_linear(self, table: sparse.csr_matrix, train: NDArray[np.bool_]) -> LogisticRegression:
        """Weights of the table's columns, from the turns of `train`."""
        known = train[self.sentences.owners]
        counted = np.bincount(self.sentences.owners, minlength=len(self.turns))[self.sentences.owners]
        heaviness = -counted.astype(float)
        model = LogisticRegression(C=1 / PENALTY, solver="liblinear", random_state=0)
        for _ in range(2):
            rows = self.choose_ruling(heaviness, known)
            owners = self.sentences.owners[rows]
            model.fit(table[rows], self.is_rule[owners], sample_weight=self.weights[owners])
            heaviness = model.decision_function(table)
        return model

    def compare(self, worth: NDArray[np.int64]) -> tuple[Matrix, dict[str, Any]]:
        """The kernel between these sentences, and what it is made of."""
        cues = self.by_words[worth]
        rarity = np.log(len(worth) / (1 + np.asarray((cues > 0).sum(0)).ravel())).astype(np.float32)
        weighed = cues.multiply(rarity[None, :]).tocsr()
        lengths = np.sqrt(np.asarray(weighed.multiply(weighed).sum(1)).ravel())
        unit = sparse.diags(1 / np.maximum(lengths, 1e-6)) @ weighed
        found = self.encode_sentences([self.sentences.texts[row] for row in worth])
        middle = found.mean(axis=0)
        sentences = centre_rows(found, middle)
        turns = self.encode_turns([self.turns[self.sentences.owners[row]].text for row in worth])
        kernel = np.exp(-SHARPNESS * (1 - sentences @ sentences.T))
        kernel += np.exp(-SHARPNESS * (1 - (unit @ unit.T).toarray()))
        kernel += TURN_SHARE * np.exp(-SHARPNESS * (1 - turns @ turns.T))
        return kernel, {
            "rarity": rarity,
            "middle": middle,
            "sentences": sentences,
            "turns": turns,
            "cues": cues,
        }

    def fit_vectors(
        self,
        kernel: Matrix,
        worth: NDArray[np.int64],
        train: NDArray[np.bool_],
        heaviness: NDArray[np.float64],
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], float]:
        """The support vectors (rows of the kernel), what each is worth and the intercept."""
        known = np.zeros(len(self.sentences.texts), dtype=bool)
        known[worth] = train[self.sentences.owners[worth]]
        places = np.full(len(known), -1)
        places[worth] = np.arange(len(worth))
        rows = self.choose_ruling(heaviness, known)
        owners, inner = self.sentences.owners[rows], places[rows]
        model = SVC(C=SLACK, kernel="precomputed", tol=1e-2, cache_size=500)
        model.fit(
            kernel[np.ix_(inner, inner)].astype(np.float64),
            self.is_rule[owners],
            sample_weight=self.weights[owners],
        )
        support, weights = inner[model.support_], self.weights[owners]
        # Early layers tell sentences of one form apart by little: in single precision the sum below is singular.
        seen = kernel[np.ix_(inner, support)].astype(np.float64) + 1  # the one is the intercept's
        wanted = weights * np.where(self.is_rule[owners], 1, -1)
        normal = (seen.T * weights) @ seen + RIDGE * (kernel[np.ix_(support, support)] + 1)
        worths = solve(
            normal + JITTER * np.eye(len(support)), wanted @ seen, assume_a="pos", overwrite_a=True
        )
        return support, worths, float(worths.sum())

    def raise_to_turns(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The highest score of each turn's sentences."""
        highest = np.full(len(self.turns), -np.inf)
        np.maximum.at(highest, self.sentences.owners, scores)
        return highest


def find_threshold(
    trainer: Trainer,
    scores: NDArray[np.float64],
    per_1000: float,
    *,
    among: Sequence[str] = PEOPLE,
    with_right: bool = False,
) -> float:
    """Where so many turns in 1,000 of these sources are above: of those that state nothing, or of all."""
    talk = np.array([turn.source in among for turn in trainer.turns])
    counted = np.sort(scores[talk if with_right else talk & ~trainer.is_rule])
    return float(counted[-1 - round(per_1000 * len(counted) / 1000)]) + 1e-6


def train(trainer: Trainer) -> tuple[dict[str, Any], dict[str, Any]]:
    """The model, fitted on everything, with thresholds from cross-validation, and the verdicts of that."""
    folds = deal_folds(trainer.turns)
    everything = np.ones(len(trainer.turns), dtype=bool)
    owners = trainer.sentences.owners
    certainty, heaviness = np.empty(len(owners)), np.empty(len(owners))
    for fold in range(FOLDS):
        held = (folds == fold)[owners]
        for scored, table in ((certainty, trainer.by_cues), (heaviness, trainer.by_words)):
            scored[held] = trainer.fit_linear(table, folds != fold).decision_function(table[held])
    worth = np.flatnonzero(heaviness >= LEARNED_FROM)
    kernel, parts = trainer.compare(worth)
    scores = np.full(len(owners), -np.inf)
    for fold in range(FOLDS):
        support, signs, intercept = trainer.fit_vectors(kernel, worth, folds != fold, heaviness)
        held = np.flatnonzero((folds == fold)[owners[worth]] & (heaviness[worth] >= FLOOR))
        scores[worth[held]] = kernel[np.ix_(held, support)] @ signs + intercept
    certainty[heaviness < SECONDED] = -np.inf
    by_cues, by_words, by_vectors = map(trainer.raise_to_turns, (certainty, heaviness, scores))
    strict = min(find_threshold(trainer, by_cues, STRICT_PER_1000), STRICT_AT_MOST)
    alone = find_threshold(trainer, by_words, ALONE_PER_1000)
    by_both = np.where(by_cues >= strict, np.inf, by_vectors)
    between_people = find_threshold(trainer, by_both, FOUND_PER_1000, with_right=True)
    to_assistant = find_threshold(trainer, by_both, WRONG_PER_1000, among=ASSISTED)
    among_people = np.array([turn.source in PEOPLE for turn in trainer.turns])
    found = by_both >= np.where(among_people, between_people, to_assistant)
    report = _report(trainer, found, by_cues >= strict)
    linear = trainer.fit_linear(trainer.by_cues, everything)
    words = trainer.fit_linear(trainer.by_words, everything)
    support, signs, intercept = trainer.fit_vectors(kernel, worth, everything, heaviness)
    cues = parts["cues"][support]
    model = {
        "floor": FLOOR,
        "strict": strict,
        "alone": alone,
        "between_people": between_people,
        "to_assistant": to_assistant,
        "bias": float(linear.intercept_[0]),
        "linear": linear.coef_[0].astype(np.float32),
        "word_bias": float(words.intercept_[0]),
        "words": words.coef_[0].astype(np.float32),
        "names": "\n".join(trainer.names),
        "rarity": parts["rarity"],
        "middle": parts["middle"],
        "sentences": _shrink(parts["sentences"][support]),
        "turns": _shrink(parts["turns"][support]),
        "cue_starts": cues.indptr[:-1].astype(np.int32),
        "cue_places": cues.indices.astype(np.int16),
        "signs": signs.astype(np.float32),
        "intercept": intercept,
    }
    return model, report


def _shrink(rows: Matrix) -> NDArray[np.int8]:
    """Unit rows as small integers, a scale for each: their direction is what counts."""
    return np.asarray(np.round(rows / np.abs(rows).max(axis=1, keepdims=True) * 127), dtype=np.int8)


def _report(trainer: Trainer, found: NDArray[np.bool_], certain: NDArray[np.bool_]) -> dict[str, Any]:
    """Shares found of each source by models that never saw the turn, and the ids found in talk."""
    sources = np.array([turn.source for turn in trainer.turns])
    report: dict[str, Any] = {"found_per_1000_between_people": FOUND_PER_1000, "sources": {}}
    for source in sorted(set(sources)):
        for kind, of in (("rules", trainer.is_rule), ("others", ~trainer.is_rule)):
            rows = of & (sources == source)
            if rows.any():
                report["sources"].setdefault(source, {})[kind] = {
                    "of": int(rows.sum()),
                    "found": int(found[rows].sum()),
                    "by_cues_alone": int(certain[rows].sum()),
                }
    report["found"] = [
        turn.id
        for turn, one in zip(trainer.turns, found, strict=True)
        if one and turn.source.startswith(TALK) and not turn.id.startswith("more:")
    ]
    return report


def main() -> None:
    """Print the cross-validated shares; with --write, write the model and the held out verdicts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with the conversations")
    parser.add_argument("--write", action="store_true", help="write models/domain/wishes/wishes.npz")
    parser.add_argument(
        "--talk", type=pathlib.Path, help="more talk without wishes, JSON lines of source and text"
    )
    arguments = parser.parse_args()
    cache = os.environ.get("LONGTAIL_ENCODER_CACHE")
    encoder = load_encoder("minilm", threads=2, cache=pathlib.Path(cache) if cache else None)

    def encode_turns(texts: Sequence[str]) -> Matrix:
        return np.vstack([mean_direction(rows) for rows in encoder.encode_windows(list(texts))])

    turns = load_turns(arguments.data, arguments.talk)
    model, report = train(Trainer(turns, split_turns(turns), encode_turns, encoder.encode_phrasing))
    print(json.dumps(report["sources"], indent=2))
    if arguments.write:
        with MODEL_PATH.open("wb") as file:
            np.savez_compressed(file, **model, encoder_digest=encoder.fingerprint.digest())
        HELD_OUT.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
