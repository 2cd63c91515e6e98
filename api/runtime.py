"""What the API process holds: settings, connections, the encoder, the doorbell, and small caches."""

import gc
import hmac
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import structlog
from sqlalchemy import Connection, Engine

from api.background.doorbell import Doorbell
from api.background.erasures import ErasureJobs
from api.background.reads import ReadCounter
from api.background.receipts import ReceiptWriter
from api.background.rules import RuleKeeper
from api.outage.last_known import LastKnown
from api.outage.waiting import Outage
from api.tails import TailStarts
from models.domain.prompt.budget import Reserves
from models.domain.prompt.tokens import TokenCounter
from models.encoders.protocol import Encoder
from models.encoders.registry import load_encoder
from models.encoders.token_files import UnknownTokenizer, load_token_counter
from models.errors import InvalidInput, Misconfigured, ServiceError, Unauthorized
from models.meters import Tally
from models.settings import Settings
from models.store.engine import open_engine, plain_transaction, tenant_transaction
from models.store.index.embeddings import Vector
from models.store.index.encoders import KnownEncoder, check_encoder, require_active
from models.store.tenancy.tokens import Caller, find_caller, find_living, token_digest
from models.traces import open_traces

log = structlog.get_logger(__name__)
TOKEN_CACHE_SECONDS = 5.0  # how long a revoked token may still work
MOST_CALLERS = 10_000  # that a process remembers
IDENTIFY_TIMEOUT_MS = 500
QUERY_CACHE_ENTRIES = 512
QUERY_THREADS = 1  # one short text is no faster with more, and PostgreSQL needs the other core meanwhile
MOST_TRANSFERS = 4  # exports and imports at once
FIRST_WINDOW_CHARS = (
    4096  # of a passage hold more than a window's tokens, but for blanks and words without end
)
ENCODER_CHECK_SECONDS = 2.0  # how soon an encoder that took over is noticed


def _has_expired(caller: Caller) -> bool:
    return caller.expires_at is not None and caller.expires_at <= datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """An encoder, and whose vectors are read with it."""

    encoder: Encoder | None
    name: str

    @property
    def fingerprint(self) -> str | None:
        """The digest of what made the vectors; None while there is no encoder."""
        return self.encoder.fingerprint.digest() if self.encoder else None


class Runtime:
    """One per process; built when the server starts, closed when it stops."""

    def __init__(self, settings: Settings, tally: Tally | None = None) -> None:
        self.settings = settings
        self.tally = tally or Tally()  # for Prometheus
        self.traces = open_traces(
            settings.traces_endpoint, share=settings.traces_share, service="longtail-api"
        )
        self._started_at = time.monotonic()
        self.reserves = Reserves(
            hard=settings.hard_reserve,
            soft=settings.soft_reserve,
            tail=settings.tail_target,
            guidance=settings.guidance_reserve,
            guidance_floor=settings.guidance_floor_tokens,
        )
        self.engine: Engine = open_engine(
            settings.role_database_url("longtail_api"),
            pool_size=12,  # twice as many at most: more than the places of all lanes (api/middleware/lanes.py)
            connect_timeout_seconds=settings.database_connect_timeout_seconds,
        )
        self.doorbell = Doorbell(settings.broker_url())
        self.outage = Outage()
        self.tails = TailStarts()
        self.erasures = ErasureJobs()
        self.reads = ReadCounter(self.engine)
        self.transfers = threading.BoundedSemaphore(MOST_TRANSFERS)
        self.draining = threading.Event()  # the server was told to stop: nobody waits for long any more
        self.receipts = ReceiptWriter(self.engine, settings)
        self.encoder: Encoder | None = None
        self.encoder_name = "minilm"  # whose vectors are read while none is loaded; the database soon says
        self.encoder_problem: str | None = "the encoder is still loading"
        self.last_known = LastKnown(settings.home / "last-known")
        self.rules = RuleKeeper(self.engine, self.last_known, self.outage)
        self._encoding = ThreadPoolExecutor(max_workers=1, thread_name_prefix="encode")
        self._vectors: OrderedDict[tuple[str, ...], Vector] = OrderedDict()
        self._callers: dict[bytes, tuple[float, Caller]] = {}
        self._counters: dict[str, TokenCounter] = {}
        self._closing = threading.Event()
        self._is_refused = False
        threading.Thread(target=self._keep_encoder, name="encoder", daemon=True).start()
        threading.Thread(target=self._keep_callers_true, name="tokens", daemon=True).start()

    def uptime_seconds(self) -> float:
        """How long this process has been here."""
        return time.monotonic() - self._started_at

    def is_settled(self) -> bool:
        """Whether the encoder is there, or will not come: nothing changes by waiting."""
        return self.encoder is not None or self._is_refused

    @property
    def serving(self) -> Serving:
        """The encoder of this moment. A request takes it once: it is read by one encoder from begin to end."""
        encoder = self.encoder
        return Serving(encoder=encoder, name=self.encoder_name if encoder is None else encoder.name)

    def transaction(self, caller: Caller, *, is_snapshot: bool = False) -> AbstractContextManager[Connection]:
        """A transaction of a request: it sees what the caller's token opens, and no statement takes longer than set."""
        timeout_ms = self.settings.statement_timeout_ms
        return tenant_transaction(self.engine, caller, timeout_ms=timeout_ms, is_snapshot=is_snapshot)

    def close(self) -> None:
        """Stop threads and give connections back."""
        self._closing.set()
        self.rules.close()
        self.doorbell.close()
        self.reads.close()
        self.receipts.close()
        if self.traces:
            self.traces.close()
        self._encoding.shutdown(wait=False, cancel_futures=True)
        self.engine.dispose()

    def _keep_encoder(self) -> None:
        """Load the encoder that serves, away from the request path, and again when another takes over."""
        refused: str | None = None
        while not self._closing.is_set():
            try:
                active = self._read_active()
                if active is not None and active.digest not in (self._loaded_digest(), refused):
                    refused = None if self._load_encoder(active) else active.digest
            except Exception as error:  # noqa: BLE001 - named in every answer until it works
                if self.encoder is None:
                    self.encoder_problem = f"the encoder could not be loaded: {error}"
                    log.warning("encoder.unavailable", error=type(error).__name__)
            self._closing.wait(ENCODER_CHECK_SECONDS)

    def _read_active(self) -> KnownEncoder | None:
        if self.outage.is_on and self.encoder is not None:
            return None
        with plain_transaction(self.engine, timeout_ms=IDENTIFY_TIMEOUT_MS) as connection:
            return require_active(connection)

    def _loaded_digest(self) -> str | None:
        return self.encoder.fingerprint.digest() if self.encoder else None

    def _load_encoder(self, active: KnownEncoder) -> bool:
        """Serve with it from here on; False where it is another model than the one that made the stored vectors."""
        if self.encoder is None:
            self.encoder_name = active.name
        try:
            loaded = load_encoder(active.source, threads=QUERY_THREADS, cache=self.settings.encoder_cache)
            loaded.encode(["warm up"])
            with plain_transaction(self.engine) as connection:
                check_encoder(connection, name=active.name, digest=loaded.fingerprint.digest())
        except Misconfigured as error:
            log.error("encoder.refused", reason=error.code)
            if self.encoder is None:  # fail closed: another model's vectors mean nothing to this one
                self.encoder_problem, self._is_refused = str(error), True
            return False
        gc.collect()
        gc.freeze()  # what is here now stays: no collection need look at it again
        self.encoder, self.encoder_problem, self.encoder_name = loaded, None, loaded.name
        log.info("encoder.ready", encoder=loaded.name, fingerprint=loaded.fingerprint.digest()[:12])
        return True

    def start_encoding(
        self, texts: Sequence[str], serving: Serving | None = None, *, as_passages: bool = False
    ) -> "Future[Vector] | None":
        """A row for each text, soon; None when there is no encoder or nothing to encode.

        They are questions, or passages: what is kept and searched, of which the first window is read.
        """
        encoder = (serving or self.serving).encoder
        if encoder is None or not any(text.strip() for text in texts):
            return None
        key = (encoder.name, str(as_passages), *texts)
        known = self._vectors.get(key)
        if known is not None:
            done: Future[Vector] = Future()
            done.set_result(known)
            return done
        return self._encoding.submit(self._encode, encoder, key, tuple(texts), as_passages)

    def _encode(
        self, encoder: Encoder, key: tuple[str, ...], texts: tuple[str, ...], as_passages: bool
    ) -> Vector:
        began = time.perf_counter()
        mark = encoder.fingerprint
        if as_passages and mark.query_prefix != mark.passage_prefix:
            begun = [
                text[:FIRST_WINDOW_CHARS] for text in texts
            ]  # a request never pays for the windows behind
            found: Vector = np.stack([rows[0] for rows in encoder.encode_windows(begun)])
        else:
            found = encoder.encode(texts)
        self.tally.observe("query_encoder_seconds", time.perf_counter() - began)
        self._vectors[key] = found
        if len(self._vectors) > QUERY_CACHE_ENTRIES:
            self._vectors.popitem(last=False)
        return found

    def known_caller(self, token: str) -> Caller | None:
        """Whose token this is, if PostgreSQL said so in the last few seconds."""
        known = self._callers.get(token_digest(token))
        is_fresh = known is not None and time.monotonic() - known[0] < TOKEN_CACHE_SECONDS
        return known[1] if known and is_fresh and not _has_expired(known[1]) else None

    def identify(self, token: str) -> Caller:
        """Whose token this is, by PostgreSQL's word."""
        digest = token_digest(token)
        now = time.monotonic()
        with plain_transaction(self.engine, timeout_ms=IDENTIFY_TIMEOUT_MS) as connection:
            caller = find_caller(connection, token=token)
        if caller is None:
            self._callers.pop(digest, None)
            raise Unauthorized(
                "the token is not known here",
                remedy="send 'Authorization: Bearer <token>' with the token from $LONGTAIL_HOME/token",
            )
        self._callers[digest] = (now, caller)
        if self.is_default_token(token):
            self.last_known.keep_caller(digest, caller)
        while len(self._callers) > MOST_CALLERS:
            self._callers.pop(next(iter(self._callers)))
        return caller

    def recall_caller(self, token: str) -> Caller | None:
        """Whose token this was when PostgreSQL last answered; what was revoked before that is not among them."""
        digest = token_digest(token)
        known = self._callers.get(digest)
        caller = known[1] if known else None
        if caller is None and self.is_default_token(token):
            caller = self.last_known.recall_caller(digest)
        return caller if caller and not _has_expired(caller) else None

    def forget_callers(self) -> None:
        """A token was revoked: ask PostgreSQL about each one again, and drop those that open nothing any more."""
        with plain_transaction(self.engine, timeout_ms=IDENTIFY_TIMEOUT_MS) as connection:
            living = find_living(connection, digests=list(self._callers))
        for digest in set(self._callers) - living:
            self._callers.pop(digest, None)
            self.last_known.drop_caller(digest)

    def _keep_callers_true(self) -> None:
        """What this process knows of tokens is true to a few seconds when PostgreSQL goes away, and while it is."""
        self._ask_for_default_token()
        while not self._closing.wait(TOKEN_CACHE_SECONDS):
            if self._callers and not self.outage.is_on:
                try:
                    self.forget_callers()
                except ServiceError as error:
                    log.info("tokens.not_checked", error=error.code)

    def _ask_for_default_token(self) -> None:
        """Whose this machine's own token is, before anybody calls: what is kept for an outage may be old."""
        token = self.settings.client_token()
        if token is None:
            return
        try:
            self.identify(token)
        except Unauthorized:
            self.last_known.drop_caller(token_digest(token))
        except ServiceError as error:
            log.info("tokens.not_checked", error=error.code)
        else:
            self.rules.check()

    def is_default_token(self, token: str) -> bool:
        """Whether it is the token of this machine's file: known without PostgreSQL."""
        kept = self.settings.client_token()
        return kept is not None and hmac.compare_digest(token_digest(kept), token_digest(token))

    def counter(self, name: str) -> TokenCounter:
        """The token counter of that name."""
        if name not in self._counters:
            try:
                self._counters[name] = load_token_counter(name, folder=self.settings.tokenizer_folder)
            except UnknownTokenizer as error:
                raise InvalidInput(
                    str(error),
                    code="unknown_tokenizer",
                    field="tokenizer",
                    remedy="use 'chars', or put a tokenizer.json into LONGTAIL_TOKENIZER_FOLDER as <name>.json",
                ) from error
        return self._counters[name]
