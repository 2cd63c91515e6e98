"""What became of every mutant: kept in a file between runs, counted by module."""

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from bench.mutants.making import Mutant
from bench.mutants.reach import Reach
from bench.mutants.running import Outcome

NOTICED: Final[tuple[Outcome, ...]] = ("killed", "timeout")


@dataclass
class Results:
    """Outcomes by the key of the mutant; a changed module has other keys, so it starts anew."""

    folder: Path = Path(".mutants")
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        """One line for each mutant that ended, the last one counts."""
        return self.folder / "outcomes.jsonl"

    def load(self) -> None:
        """Take up what earlier runs found."""
        if self.file.exists():
            for line in self.file.read_text().splitlines():
                key, outcome = json.loads(line)
                self.outcomes[key] = outcome

    def record(self, mutant: Mutant, outcome: Outcome) -> None:
        """Keep an outcome at once, so that an interrupted run loses nothing."""
        self.outcomes[mutant.key] = outcome
        self.folder.mkdir(exist_ok=True)
        with self.file.open("a") as lines:
            lines.write(json.dumps([mutant.key, outcome]) + "\n")

    def load_reach(self, fingerprints: dict[str, str]) -> Reach:
        """What was learned from the very same code and test files; files that changed are left out."""
        path = self.folder / "reach.json"
        if not path.exists():
            return Reach()
        kept = json.loads(path.read_text())
        same = {file for file, digest in kept["of"].items() if fingerprints.get(file) == digest}
        return Reach(**kept["reach"]).keep_files(same) if same else Reach()

    def save_reach(self, fingerprints: dict[str, str], reach: Reach) -> None:
        """Keep it for the next run."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / "reach.json").write_text(json.dumps({"of": fingerprints, "reach": asdict(reach)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How many mutants of a module ran, and how many the tests noticed."""

    module: str
    made: int
    ran: int
    noticed: int
    counts: dict[Outcome, int]

    @property
    def share(self) -> float:
        """In [0, 1]; a module without a mutant has nothing unnoticed."""
        return self.noticed / self.ran if self.ran else 1.0


def count_module(module: str, mutants: list[Mutant], outcomes: dict[str, Outcome]) -> Score:
    """The score of one module."""
    counts = Counter(outcomes[mutant.key] for mutant in mutants if mutant.key in outcomes)
    noticed = sum(counts[outcome] for outcome in NOTICED)
    return Score(module=module, made=len(mutants), ran=counts.total(), noticed=noticed, counts=dict(counts))
