"""`POST /rpc`: one message or a batch, with the bearer token of every other call."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool

from api.access.decisions import Credentials, RuntimeOf, token_of
from api.documents.routes import read_body
from api.routing.parameters import PROBLEM
from api.rpc.dispatcher import Dispatcher, Session
from models.errors import DatabaseUnavailable

router = APIRouter()
# Any JSON is a fitting body: what is no request is answered by an error of the protocol, not of HTTP.
MESSAGE: dict[str, Any] = {"content": {"application/json": {"schema": {}}}, "required": False}


async def dispatcher_of(request: Request) -> Dispatcher:
    """The process's dispatcher."""
    found: Dispatcher = request.app.state.dispatcher
    return found


@router.post(
    "/rpc",
    tags=["json-rpc"],
    responses={
        **PROBLEM,
        200: {"description": "The answer, or the answers of a batch; errors of the protocol too"},
        204: {"description": "Nothing but notifications"},
    },
    openapi_extra={"requestBody": MESSAGE},
)
async def post_rpc(
    body: Annotated[bytes, Depends(read_body)],
    dispatcher: Annotated[Dispatcher, Depends(dispatcher_of)],
    runtime: RuntimeOf,
    credentials: Credentials,
) -> Response:
    """JSON-RPC 2.0; docs/rpc.md lists the methods."""
    token = token_of(credentials)
    if runtime.known_caller(token) is None:
        try:
            await run_in_threadpool(
                runtime.identify, token
            )  # an unknown token is 401 here, as on every route
        except DatabaseUnavailable:
            if runtime.recall_caller(token) is None:
                raise
    answer = await run_in_threadpool(dispatcher.answer, body, Session(token=token))
    if answer is None:
        return Response(status_code=204)
    return Response(answer, media_type="application/json")
