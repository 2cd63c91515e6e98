"""Structured logs, one JSON line an event: constant event names, fields as keywords, never memory text.

A traceback says where and of which kind: the message of an error may quote what somebody said, so it is left out.
"""

import hashlib
import logging
import sys
import traceback
from types import TracebackType

import structlog
from structlog.typing import EventDict, Processor

from models.errors import describe_error

Raised = tuple[type[BaseException], BaseException, TracebackType | None]


def show_exception(exc_info: Raised) -> str:
    """The frames of an error and of those it came from, innermost first; kinds, and no messages but our own."""
    lines: list[str] = []
    error: BaseException | None = exc_info[1]
    while error is not None:
        lines.append(describe_error(error))
        lines += [
            f"  {frame.filename}:{frame.lineno} in {frame.name}"
            for frame in traceback.extract_tb(error.__traceback__)
        ]
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\n".join(lines)


def name_in_log(name: str) -> str:
    """What a log calls a session: the same for the same one, and not its name, which may be somebody's number.

    >>> name_in_log("whatsapp:+49 170 1234567")
    '1f391def5a03'
    """
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:12]


def _without_messages(_logger: object, _method: str, event: EventDict) -> EventDict:
    """What a library logs about an error it met: the sentence, and never the values filled into it."""
    record = event.get("_record")
    if isinstance(record, logging.LogRecord) and (record.exc_info or record.levelno >= logging.ERROR):
        event["event"] = record.msg if isinstance(record.msg, str) else type(record.msg).__name__
        event.pop("positional_args", None)
    return event


def configure_logging(level: str) -> None:
    """JSON lines on standard error, for our events and for the libraries' alike."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            *shared,
            structlog.processors.ExceptionRenderer(show_exception),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping().get(level, 20)),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[
                _without_messages,
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.ExceptionRenderer(show_exception),
                structlog.processors.JSONRenderer(),
            ],
            foreign_pre_chain=[*shared, structlog.stdlib.add_logger_name],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
