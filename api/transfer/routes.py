"""The HTTP surface of moving: everything out as lines, and back in."""

from typing import Annotated, Literal

import anyio
from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from api.access.decisions import Administrator, Reader, RuntimeOf, check_whole_tenant
from api.routing.parameters import PROBLEM, Asked
from api.routing.schemas import Name
from api.runtime import Runtime
from api.transfer.export import export
from api.transfer.imports import Importer, split_lines
from api.transfer.schemas import ImportOut
from api.transfer.streams import ClosingStream, receive_body
from models.errors import TooLarge
from models.store.tenancy.tokens import Caller

router = APIRouter(responses=PROBLEM, tags=["transfer"])
NDJSON = "application/x-ndjson"
LINES_AT_ONCE = 500
BYTES_AT_ONCE = 4 * 1024 * 1024


@router.get(
    "/v1/export",
    response_class=StreamingResponse,
    responses={
        200: {"content": {NDJSON: {"schema": {"type": "string"}}}, "description": "One record a line"}
    },
)
def get_export(
    runtime: RuntimeOf, caller: Reader, asked: Asked, session_id: Annotated[Name | None, Query()] = None
) -> StreamingResponse:
    """Everything kept, with its lineage, as one moment saw it: a header, records, and a count at the end."""
    lines = export(runtime, caller, asked=asked, session_id=session_id)
    return ClosingStream(lines, media_type=NDJSON, stall_seconds=runtime.settings.transfer_stall_seconds)


@router.post(
    "/v1/import",
    openapi_extra={"requestBody": {"required": True, "content": {NDJSON: {"schema": {"type": "string"}}}}},
)
async def post_import(
    request: Request,
    runtime: RuntimeOf,
    caller: Administrator,
    ids: Annotated[
        Literal["keep", "new"],
        Query(description="`new` makes every id anew, for a second tenant on the same server."),
    ] = "keep",
) -> ImportOut:
    """Take an export back, all of it or nothing; sending it again adds nothing."""
    check_whole_tenant(caller, remedy="import with a token of the whole tenant")
    return await _import(request, runtime, caller, makes_ids=ids == "new")


async def _import(request: Request, runtime: Runtime, caller: Caller, *, makes_ids: bool) -> ImportOut:
    importer = Importer(runtime, caller, makes_ids=makes_ids)
    limit = runtime.settings.max_import_line_bytes
    await run_in_threadpool(importer.__enter__)
    try:
        waiting = bytearray()
        lines: list[bytes] = []
        held = 0
        async for chunk in receive_body(request, stall_seconds=runtime.settings.transfer_stall_seconds):
            waiting += chunk
            for line in split_lines(waiting):
                lines.append(line)
                held += len(line)
            if len(waiting) > limit:
                raise TooLarge(
                    f"a line has more than {limit} bytes",
                    code="line_too_large",
                    remedy="raise LONGTAIL_MAX_IMPORT_LINE_BYTES",
                )
            if len(lines) >= LINES_AT_ONCE or held >= BYTES_AT_ONCE:
                await run_in_threadpool(importer.take, lines)
                lines, held = [], 0
        if waiting:
            lines.append(bytes(waiting))
        await run_in_threadpool(importer.take, lines)
        imported = await run_in_threadpool(importer.finish)
    except BaseException as error:
        with anyio.CancelScope(shield=True):
            await run_in_threadpool(importer.__exit__, type(error), error, error.__traceback__)
        raise
    await run_in_threadpool(importer.__exit__, None, None, None)
    await run_in_threadpool(importer.ring)
    return imported
