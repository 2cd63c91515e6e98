"""Summarisers by name: what LONGTAIL_SUMMARIZER may be set to."""

from models.errors import Misconfigured
from models.settings import Settings
from models.summarizers.protocol import Summarizer


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


def _missing(name: str, variables: str) -> Misconfigured:
    return Misconfigured(
        f"LONGTAIL_SUMMARIZER={name} needs {variables}", remedy=f"set {variables}, or unset it"
    )
