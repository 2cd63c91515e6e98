"""What the benchmark of wishes counts."""

import json
from collections.abc import Sequence
from pathlib import Path

from bench.quality.wishes import BETWEEN_PEOPLE, WITH_AN_ASSISTANT, describe_wishes, measure_wishes


def test_talk_is_counted_by_source_and_sets_by_split(tmp_path: Path) -> None:
    (tmp_path / "longmemeval_dev.json").write_text(json.dumps({"sessions": {}}))
    (tmp_path / "locomo_dev.json").write_text("[]")
    chat = [{"source": "gitter", "text": "never mind"}, {"source": "gitter", "text": "hello"}]
    (tmp_path / "chat_turns.jsonl").write_text("\n".join(map(json.dumps, chat)))
    made = tmp_path / "made.jsonl"
    said = [("rule", "never lie"), ("decoy", "never mind"), ("decoy", "so be it")]
    made.write_text("\n".join(json.dumps({"kind": k, "says": s, "split": "mine"}) for k, s in said))

    def find(texts: Sequence[str], between_people: bool) -> list[bool]:
        return ["never" in text and (text == "never mind" or not between_people) for text in texts]

    result = measure_wishes(tmp_path, find, sets=[made])
    assert result["talk"]["gitter"]["per_1000"] == 500.0
    assert result["talk"][BETWEEN_PEOPLE]["found"] == 1
    to_assistant, among_people = (
        result["sets"][f"mine, {kind}"] for kind in (WITH_AN_ASSISTANT, BETWEEN_PEOPLE)
    )
    assert to_assistant == {"rules": {"of": 1, "found": 1.0}, "decoys": {"of": 2, "found": 0.5}}
    assert among_people["rules"]["found"] == 0.0
    assert "| mine, with an assistant | 1 | 1.000 | 2 | 0.500 |" in describe_wishes(result)
