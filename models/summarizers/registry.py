"""Summarisers by name: what LONGTAIL_SUMMARIZER may be set to."""

import socket
from typing import Final
from urllib.parse import urlsplit

from models.errors import Misconfigured
from models.settings import Settings
from models.summarizers.protocol import Summarizer

SEQ2SEQ_FILES: Final = ("encoder_model.onnx", "decoder_model.onnx", "tokenizer.json", "config.json")
REACH_SECONDS: Final = 0.5


def load_summarizer(settings: Settings) -> Summarizer | None:
    """The abstractive writer that is configured; None where summaries quote, which needs no writer.

    Raises Misconfigured where a value is missing, SummarizerUnavailable where the files are.
    """
    match settings.summarizer:
        case "extractive":
            return None
        case "seq2seq":
            from models.summarizers.seq2seq import Seq2SeqSummarizer

            folder = settings.summarizer_folder
            if folder is None:
                raise _missing("seq2seq", "LONGTAIL_SUMMARIZER_FOLDER")
            return Seq2SeqSummarizer(folder, threads=settings.encoder_threads)
        case "endpoint":
            from models.summarizers.endpoint import EndpointSummarizer

            if not settings.summarizer_url or not settings.summarizer_model:
                raise _missing("endpoint", "LONGTAIL_SUMMARIZER_URL and LONGTAIL_SUMMARIZER_MODEL")
            return EndpointSummarizer(
                url=settings.summarizer_url,
                model=settings.summarizer_model,
                api_key=settings.summarizer_api_key,
                timeout_seconds=settings.summarizer_timeout_seconds,
                attempts=settings.summarizer_attempts,
            )


def is_within_reach(settings: Settings) -> bool:
    """Whether the configured writer could write now: its files are there, or somebody listens at its address."""
    match settings.summarizer:
        case "extractive":
            return False
        case "seq2seq":
            folder = settings.summarizer_folder
            return folder is not None and all((folder / name).is_file() for name in SEQ2SEQ_FILES)
        case "endpoint":
            url = urlsplit(settings.summarizer_url or "")
            if not url.hostname or not settings.summarizer_model:
                return False
            port = url.port or (443 if url.scheme == "https" else 80)
            try:
                socket.create_connection((url.hostname, port), timeout=REACH_SECONDS).close()
            except OSError:
                return False
            return True


def _missing(name: str, variables: str) -> Misconfigured:
    return Misconfigured(
        f"LONGTAIL_SUMMARIZER={name} needs {variables}", remedy=f"set {variables}, or unset it"
    )
