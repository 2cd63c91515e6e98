"""What the benchmark of wishes counts."""

import json
from pathlib import Path

from bench.quality.wishes import BETWEEN_PEOPLE, describe_wishes, measure_wishes


def test_talk_is_counted_by_source_and_sets_by_split(tmp_path: Path) -> None:
    (tmp_path / "longmemeval_dev.json").write_text(json.dumps({"sessions": {}}))
    (tmp_path / "locomo_dev.json").write_text("[]")
    chat = [{"source": "gitter", "text": "never mind"}, {"source": "gitter", "text": "hello"}]
    (tmp_path / "chat_turns.jsonl").write_text("\n".join(map(json.dumps, chat)))
    made = tmp_path / "made.jsonl"
    said = [("rule", "never lie"), ("decoy", "never mind"), ("decoy", "so be it")]
    made.write_text("\n".join(json.dumps({"kind": k, "says": s, "split": "mine"}) for k, s in said))
    result = measure_wishes(tmp_path, lambda texts: ["never" in text for text in texts], sets=[made])
    assert result["talk"]["gitter"]["per_1000"] == 500.0
    assert result["talk"][BETWEEN_PEOPLE]["found"] == 1
    assert result["sets"]["mine"] == {"rules": {"of": 1, "found": 1.0}, "decoys": {"of": 2, "found": 0.5}}
    assert "| mine | 1 | 1.000 | 2 | 0.500 |" in describe_wishes(result)
