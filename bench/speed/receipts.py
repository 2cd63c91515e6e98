"""`longtail bench receipts`: what a receipt costs, in bytes, in processor time, and for the assembly it explains.

Two runtimes in this process over one database, one that keeps every receipt and one that keeps none, answer the same
queries by turns, so that both meet the same machine.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from pydantic_core import to_json
from rich.console import Console
from rich.progress import Progress
from sqlalchemy import text

from api.assemble.schemas import AssembleIn
from api.assemble.service import assemble_prompt
from api.background.receipts import ReceiptWriter
from api.client import ServiceClient
from api.runtime import Runtime
from api.stack.throwaway import ThrowawayStack
from bench.speed.spine import USER, milliseconds, send, spread, wait_for_pipeline
from bench.texts import load_texts
from models.store.engine import plain_transaction, tenant_transaction
from models.store.receipts import NewReceipt
from models.store.tenancy.tokens import find_caller

PAUSE_SECONDS: Final = 0.05  # a host asks its model in between; the writer works meanwhile


class Listening(ReceiptWriter):
    """Writes receipts, and remembers how the last one is made."""

    last: Callable[[], NewReceipt] | None = None

    def keep(self, receipt_id: UUID, tenant_id: UUID, make_row: Callable[[], NewReceipt]) -> None:
        self.last = make_row
        super().keep(receipt_id, tenant_id, make_row)


def make_runtime(stack: ThrowawayStack, *, share: float) -> Runtime:
    """A runtime of this process, with its encoder ready."""
    settings = stack.settings.model_copy(update={"receipt_share": share, "receipts_per_second": 1e9})
    runtime = Runtime(settings)
    runtime.receipts.close()
    runtime.receipts = Listening(runtime.engine, settings)
    while runtime.encoder is None:
        time.sleep(0.05)
    return runtime


def measure_draft(make_row: Callable[[], NewReceipt]) -> dict[str, float]:
    """Processor time to write one down, and the share of it that is JSON."""
    rounds = 50
    start = time.thread_time()
    encoded = [make_row() for _ in range(rounds)][-1].receipt
    made = time.thread_time()
    receipt = json.loads(encoded)
    before = time.thread_time()
    for _ in range(rounds):
        to_json(receipt)
    json_ms = (time.thread_time() - before) * 1000 / rounds
    return {
        "build_ms": round((made - start) * 1000 / rounds - json_ms, 3),
        "json_ms": round(json_ms, 3),
        "json_bytes": len(encoded),
        "candidates": len(receipt["candidates"]["rows"]),
    }


def run(
    *, memories: int, calls: int, data: Path | None, output: Path | None, console: Console, encoder: str
) -> dict[str, Any]:
    """The whole benchmark on a stack of its own."""
    texts = load_texts(memories + calls, data=data)
    with (
        ThrowawayStack({"LONGTAIL_ENCODER": encoder}) as stack,
        ServiceClient.from_settings(stack.settings) as client,
        Progress(console=console) as progress,
    ):
        send(client, texts[:memories], session="memories", user=USER)
        wait_for_pipeline(client, progress, "remembering")
        runtimes = {share: make_runtime(stack, share=share) for share in (0.0, 1.0)}
        with plain_transaction(runtimes[0.0].engine) as connection:
            caller = find_caller(connection, token=stack.settings.client_token() or "")
        assert caller is not None
        took: dict[float, list[float]] = {share: [] for share in runtimes}
        bar = progress.add_task("assembling", total=calls)
        for number, query in enumerate(texts[memories:]):
            request = AssembleIn(session_id="memories", query=query, budget_tokens=4000, user_id=USER)
            for share in (0.0, 1.0) if number % 2 else (1.0, 0.0):
                runtime = runtimes[share]
                took[share].append(milliseconds(lambda: assemble_prompt(runtime, caller, request)))  # noqa: B023
                time.sleep(PAUSE_SECONDS)
            progress.advance(bar)
        writer = runtimes[1.0].receipts
        assert isinstance(writer, Listening)
        assert writer.last is not None
        draft = measure_draft(writer.last)
        for runtime in runtimes.values():
            runtime.receipts.close()  # writes what is left
        with tenant_transaction(runtimes[0.0].engine, caller.tenant_id) as connection:
            stored = connection.execute(
                text(
                    "SELECT count(*) AS receipts, avg(pg_column_size(receipt))::integer AS stored_bytes, "
                    "avg(octet_length(receipt::text))::integer AS text_bytes FROM assemblies"
                )
            ).one()
        for runtime in runtimes.values():
            runtime.close()
    result = {
        "memories": memories,
        "calls": calls,
        "without_receipts_ms": spread(took[0.0]),
        "with_receipts_ms": spread(took[1.0]),
        "receipts": stored.receipts,
        "stored_bytes": stored.stored_bytes,
        "text_bytes": stored.text_bytes,
        **draft,
    }
    if output is not None:
        output.write_text(json.dumps(result, indent=2))
    return result
