"""What a run of `bench compaction` says: the claims with their numbers, and the table."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

TARGETS: Final = {
    "keeps_up": "while turns come, the turns no summary covers do not grow with the session",
    "grows_like_log": "active summaries ≤ 8 for each level, and levels like log(turns)",
    "stays_flat": "assemble p50 over its floor does not grow with the session",
    "shrinks_by": "the active view costs ≤ 1/10 of the raw turns",
    "proof": "0 violations",
}


def summarize(
    checkpoints: Sequence[Mapping[str, Any]],
    samples: Sequence[Mapping[str, Any]],
    *,
    feeding_seconds: float,
    last_lag_seconds: float,
) -> dict[str, Any]:
    """The numbers behind the claims."""
    last = checkpoints[-1]
    bare = [one["remembered"] - one["covered"] for one in samples]
    middle = len(bare) // 2
    return {
        "turns": last["turns"],
        "turns_per_second_while_feeding": round(last["turns"] / feeding_seconds, 1),
        "bare_turns_while_feeding": {
            "first_half_most": max(bare[:middle], default=0),
            "second_half_most": max(bare[middle:], default=0),
        },
        "seconds_behind_at_the_end": round(last_lag_seconds, 1),
        "active_summaries": last["active_summaries"],
        "levels": last["levels"],
        "most_active_expected": 8 * max(last["levels"], 1),
        "levels_expected": max(math.ceil(math.log(max(last["turns"] / 20, 2), 5)), 1),
        "raw_tokens": last["raw_tokens"],
        "view_tokens": last["view_tokens"],
        "shrinks_by": round(last["raw_tokens"] / max(last["view_tokens"], 1), 1),
        "assemble_over_floor_p50": {
            str(one["turns"]): round(one["assemble_ms_p50"] / max(one["floor_ms_p50"], 0.001), 2)
            for one in checkpoints
        },
        "checkpoints": list(checkpoints),
        "samples": list(samples),
        "targets": TARGETS,
    }


def describe(result: Mapping[str, Any]) -> str:
    """The result as Markdown."""
    lines = [
        f"{result['turns']} turns in one session, encoder {result['encoder']}"
        + (" (vectors cached before)" if result["vectors_cached_before"] else "")
        + f", at most {result['backlog_turns']} turns waiting to be remembered:",
        "",
        "| turns | covered | active summaries | levels | raw tokens | view tokens | smaller by "
        "| assemble p50 / p95 ms | floor p50 / p95 ms | ratio p50 |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for one in result["checkpoints"]:
        times = f"{one['assemble_ms_p50']} / {one['assemble_ms_p95']}"
        floor = f"{one['floor_ms_p50']} / {one['floor_ms_p95']}"
        ratio = result["assemble_over_floor_p50"][str(one["turns"])]
        shrinks = one["raw_tokens"] / max(one["view_tokens"], 1)
        lines.append(
            f"| {one['turns']} | {one['covered']} | {one['active_summaries']} | {one['levels']} | {one['raw_tokens']} "
            f"| {one['view_tokens']} | {shrinks:.1f} | {times} | {floor} | {ratio} |"
        )
    bare = result["bare_turns_while_feeding"]
    lines += [
        "",
        f"- Fed at {result['turns_per_second_while_feeding']} turns/s; remembered turns that no summary covered while turns "
        f"came: at most {bare['first_half_most']} in the first half, {bare['second_half_most']} in the second; "
        f"{result['seconds_behind_at_the_end']} s behind when all was remembered.",
        f"- {result['active_summaries']} active summaries on {result['levels']} levels (at most "
        f"{result['most_active_expected']}; log₅(turns/20) is {result['levels_expected']}).",
        f"- Proof: {result['proof']['violations']} violations in {result['proof']['summaries']} summaries, "
        f"{result['proof']['seconds']} s.",
        "",
    ]
    return "\n".join(lines)
