"""A bound on what one request may send, enforced while it is read and before anything is parsed."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import problem


class BodyLimit:
    """Answers 413 as soon as a body is known, by its header or by its bytes, to be over the limit."""

    def __init__(self, app: ASGIApp, max_bytes: int, streamed: frozenset[str] = frozenset()) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.streamed = streamed  # paths that read a body piece by piece, and bound the pieces themselves

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self.streamed:
            await self.app(scope, receive, send)
            return
        refusal = problem(
            status=413,
            code="body_too_large",
            detail=f"the request is larger than {self.max_bytes} bytes",
            remedy="send it in several calls, or raise LONGTAIL_MAX_BODY_BYTES",
            headers={"Connection": "close"},
        )
        declared = dict(scope["headers"]).get(b"content-length", b"")
        if declared.isdigit() and int(declared) > self.max_bytes:
            await refusal(scope, receive, send)
            return
        seen = 0
        has_answered = False

        async def counted() -> Message:
            nonlocal seen, has_answered
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.max_bytes:
                if not has_answered:
                    has_answered = True
                    await refusal(scope, receive, send)
                return {"type": "http.disconnect"}
            return message

        async def unless_answered(message: Message) -> None:
            if not has_answered:
                await send(message)

        await self.app(scope, counted, unless_answered)
