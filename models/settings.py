"""Every setting, read once from LONGTAIL_* variables; units are in the names.

Where the local stack runs (`longtail up`), its state file supplies the addresses that the variables do not.
"""

import hashlib
import hmac
import ipaddress
import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from models.domain.gate.weights import TECHNICAL_NORM, GateWeights
from models.domain.recall.scoring import RECALL_FLOOR, ProfileName

ServiceRole = Literal["longtail_api", "longtail_worker", "longtail_report"]
SERVICE_ROLES: tuple[ServiceRole, ...] = ("longtail_api", "longtail_worker", "longtail_report")
DEFAULT_PORT = 8765


def default_home() -> Path:
    """The user's data folder: $XDG_DATA_HOME/longtail, else ~/.local/share/longtail."""
    from platformdirs import user_data_path

    return user_data_path("longtail", appauthor=False)


def secrets_folder() -> str | None:
    """LONGTAIL_SECRETS_DIR: a file there with the name of a setting (`longtail_token`) holds its value."""
    return os.environ.get("LONGTAIL_SECRETS_DIR") or None


class Settings(BaseSettings):
    """Values an operator may set. Defaults work on one machine with `longtail up`."""

    model_config = SettingsConfigDict(env_prefix="LONGTAIL_", extra="ignore", secrets_dir=secrets_folder())

    home: Path = Field(default_factory=default_home)
    database_url: str | None = None  # owner; the service roles' addresses are derived from it
    api_database_url: str | None = None
    worker_database_url: str | None = None
    report_database_url: str | None = None
    redis_url: str | None = None
    api_url: str | None = None
    token: str | None = None
    tls_in_front: bool = False  # a proxy with TLS stands before the API: it may listen beyond loopback
    host: str = "127.0.0.1"
    port: int = Field(default=DEFAULT_PORT, ge=0, le=65535)  # 0 = a free one
    run_as: str = (
        "longtail,nobody"  # who runs Postgres and Redis when root starts them: the first that exists
    )
    postgres_memory_mb: int = Field(default=256, ge=16, le=262_144)  # of the local one; a million wants 2048

    encoder: str = "minilm"
    encoder_threads: int = Field(default=2, ge=1, le=64)
    encoder_cache: Path | None = (
        None  # keeps vectors by the hash of their text: for benchmarks, off by default
    )
    tokenizer_folder: Path | None = None  # more tokenizer.json files, by name

    # memory-model.md section 2
    budget_tokens_configured: int = Field(default=8000, ge=1)  # the load-time check of hard rules
    hard_reserve: float = Field(default=0.30, ge=0, le=1)
    soft_reserve: float = Field(default=0.20, ge=0, le=1)
    tail_target: float = Field(default=0.30, ge=0, le=1)
    guidance_reserve: float = Field(default=0.15, ge=0, le=1)
    guidance_floor_tokens: int = Field(default=200, ge=0)  # at least, up to 0.30 of a small budget
    tail_min_turns: int = Field(default=4, ge=1, le=1000)
    recall_floor: float = Field(default=RECALL_FLOOR, ge=0, le=1)  # recall scoring less is left out
    recall_profile: ProfileName = "longtail"  # how recall is ranked; "seed" and "seed_linear" for comparison
    gate_threshold: float = Field(default=0.63, ge=0, le=1)
    # section 5: the first three sum to 1, and so do the next three
    gate_novelty_weight: float = Field(default=0.35, ge=0, le=1)
    gate_repetition_weight: float = Field(default=0.40, ge=0, le=1)
    gate_load_weight: float = Field(default=0.25, ge=0, le=1)
    gate_specificity_weight: float = Field(default=0.40, ge=0, le=1)
    gate_actionability_weight: float = Field(default=0.35, ge=0, le=1)
    gate_structure_weight: float = Field(default=0.25, ge=0, le=1)
    gate_worth_weight: float = Field(default=0.7, ge=0, le=1)  # ω: what worth counts beside G
    gate_technical_norm: float = Field(default=TECHNICAL_NORM, gt=0)  # where technical density saturates

    # limits of one request
    max_body_bytes: int = Field(default=16 * 1024 * 1024, ge=1024)
    max_body_values: int = Field(
        default=100_000, ge=100
    )  # JSON values and keys: what costs time is not their size
    max_turn_bytes: int = Field(default=1024 * 1024, ge=1)
    max_turns_per_call: int = Field(default=1000, ge=1)
    max_document_bytes: int = Field(
        default=256 * 1024, ge=1
    )  # a rules file of this size has long lost its readers

    secrets: Literal["mask", "tag", "refuse", "off"] = (
        "mask"  # what becomes of keys, tokens and passwords in a text
    )
    max_import_line_bytes: int = Field(default=8 * 1024 * 1024, ge=1024)  # one record of an import
    transfer_stall_seconds: float = Field(
        default=60.0, gt=0
    )  # without a byte moving, an export or import ends
    rate_limit_per_second: float = Field(default=0.0, ge=0)  # requests of one token; 0 = as many as it likes
    rate_limit_burst: int = Field(default=100, ge=1)  # that may come at once
    idempotency_hours: float = Field(default=24.0, gt=0)  # how long an answer is kept for a repeated call

    # sessions that are not remembered: patterns with * and ?, commas between, matched with a session's id and key
    ignored_sessions: str = "*:cron:*,cron:*,*:heartbeat,*:heartbeat:*,*:subagent:*,subagent:*"

    # pipeline
    lease_seconds: float = Field(default=6.0, gt=0, le=600)  # renewed by a heartbeat while the work goes on
    sweep_seconds: float = Field(default=5.0, gt=0)
    max_attempts: int = Field(default=5, ge=1)
    retry_backoff_seconds: float = Field(default=2.0, gt=0)
    embed_batch_turns: int = Field(default=64, ge=1)
    worker_niceness: int = Field(default=10, ge=0, le=19)

    # compaction (memory-model.md section 8)
    compaction_threshold_tokens: int = Field(default=2000, ge=1)
    compaction_idle_seconds: float = Field(default=900.0, gt=0)
    compaction_scan_seconds: float = Field(default=60.0, gt=0)
    compaction_jitter_seconds: float = Field(default=5.0, ge=0)
    compaction_claim_seconds: float = Field(
        default=30.0, gt=0
    )  # a message that is lost is sent again after it
    compaction_pass_turns: int = Field(default=200, ge=2)  # that one transaction may cover
    compaction_slice_seconds: float = Field(default=30.0, gt=0)  # then another session gets its turn
    compaction_yield_rows: int = Field(default=500, ge=1)  # waiting work from which ingest comes first
    compaction_yield_share: float = Field(
        default=0.25, gt=0, le=1
    )  # of its worker's time, while that much waits
    compaction_wait_seconds: float = Field(default=50.0, gt=0)  # that a call with wait=true may take
    lineage_check_seconds: float = Field(default=3600.0, gt=0)
    journal_entries: int = Field(default=500, ge=1)

    # summariser; nothing leaves the machine unless an endpoint is named
    summarizer: Literal["extractive", "seq2seq", "endpoint"] = "extractive"
    summarizer_folder: Path | None = None  # encoder_model.onnx, decoder_model.onnx, tokenizer.json
    summarizer_url: str | None = None  # an OpenAI-compatible base address, as http://127.0.0.1:11434/v1
    summarizer_model: str | None = None
    summarizer_api_key: str | None = Field(default=None, repr=False)
    summarizer_timeout_seconds: float = Field(default=20.0, gt=0)
    summarizer_attempts: int = Field(default=3, ge=1, le=10)

    # the synchronous side
    database_connect_timeout_seconds: float = Field(default=2.0, gt=0)
    statement_timeout_ms: int = Field(default=5000, ge=1)
    assemble_deadline_ms: int = Field(default=2000, ge=1)
    log_level: str = "INFO"

    # JSON-RPC over lines (docs/rpc.md)
    rpc_listen: str = (
        "unix"  # off, unix, unix:/path, daemon, tcp:127.0.0.1:port, open-tcp:…, or several with commas
    )
    rpc_max_connections: int = Field(default=64, ge=1)
    rpc_max_records: int = Field(default=10_000, ge=1)  # of one answer
    # hooks; read by api/host/configuration.py, which must not load this module
    user_id: str | None = None  # whose memory on this machine; else the login name
    hook_deadline_ms: int = Field(default=2000, ge=1)  # that a prompt may wait for memory
    hook_send_ms: int = Field(default=500, ge=1)  # that an event may take which only leaves something behind
    hook_budget_tokens: int = Field(default=2400, ge=1)  # 9,600 characters: Claude Code shows 10,000
    spool_max_bytes: int = Field(
        default=64 * 1024 * 1024, ge=1024
    )  # of what hooks left while the API was away

    # receipts: how a prompt came about
    receipt_share: float = Field(default=1.0, ge=0, le=1)  # of assemblies whose receipt is kept
    receipts_per_second: float = Field(default=4.0, gt=0)  # at most, of one API process, after a first 32
    receipts_kept: int = Field(default=1000, ge=1)  # of each tenant, the newest
    receipt_days: float = Field(default=14.0, gt=0)  # how long one is kept at most
    receipt_prune_seconds: float = Field(default=600.0, gt=0)

    # traces (docs/monitoring.md); nothing leaves the machine unless an endpoint is named
    traces_endpoint: str | None = None  # OTLP over HTTP, as http://127.0.0.1:4318
    traces_share: float = Field(default=1.0, ge=0, le=1)  # of turns and of assemblies

    def state(self) -> dict[str, Any]:
        """What `longtail up` wrote down when it started, or {} where no local stack was started."""
        try:
            loaded: dict[str, Any] = json.loads((self.home / "run" / "state.json").read_text())
        except (FileNotFoundError, PermissionError, json.JSONDecodeError):
            return {}
        return loaded

    @model_validator(mode="after")
    def _check_gate_weights(self) -> Self:
        self.gate_weights()
        return self

    def gate_weights(self) -> GateWeights:
        """The weights of the gate; ValueError where those of a branch do not sum to 1."""
        return GateWeights(
            novelty=self.gate_novelty_weight,
            repetition=self.gate_repetition_weight,
            load=self.gate_load_weight,
            specificity=self.gate_specificity_weight,
            actionability=self.gate_actionability_weight,
            structure=self.gate_structure_weight,
            worth=self.gate_worth_weight,
        )

    @field_validator("host")
    @classmethod
    def _check_host(cls, host: str, known: ValidationInfo) -> str:
        if not (is_loopback(host) or known.data.get("tls_in_front")):
            raise ValueError(
                "it is not on loopback, and the API speaks plain HTTP; "
                "put a proxy with TLS in front of it and set LONGTAIL_TLS_IN_FRONT=true"
            )
        return host

    @field_validator("traces_endpoint")
    @classmethod
    def _check_traces_endpoint(cls, address: str | None) -> str | None:
        if address is None or not address.strip():
            return None
        parts = urlsplit(address.strip())
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("it is no address of OTLP over HTTP; it looks like http://127.0.0.1:4318")
        return address.strip()

    def ignored_session_patterns(self) -> tuple[str, ...]:
        """The patterns of `ignored_sessions`."""
        return tuple(part for part in (one.strip() for one in self.ignored_sessions.split(",")) if part)

    def compaction_tail_tokens(self) -> int:
        """What the recent tail costs at the configured budget: compaction stays behind it."""
        return int(self.tail_target * self.budget_tokens_configured)

    def owner_database_url(self) -> str | None:
        """The address migrations use: LONGTAIL_DATABASE_URL, else the local stack's."""
        return self.database_url or self.state().get("database_url")

    def role_database_url(self, role: ServiceRole) -> str | None:
        """The address a service role connects to: its own variable, else derived from the owner's."""
        own: str | None = getattr(self, f"{role.removeprefix('longtail_')}_database_url")
        owner = self.owner_database_url()
        return own or (derive_role_url(owner, role) if owner else None)

    def broker_url(self) -> str | None:
        """LONGTAIL_REDIS_URL, else the local stack's."""
        return self.redis_url or self.state().get("redis_url")

    def service_url(self) -> str:
        """Where the API listens: LONGTAIL_API_URL, else the local stack's, else the default port."""
        default = f"http://{self.host}:{self.port or DEFAULT_PORT}"
        found: str = self.api_url or self.state().get("api_url") or default
        return found.rstrip("/")

    def knows_no_service(self) -> bool:
        """Whether nothing says where an API is: any free port was asked for, and no stack of this home runs."""
        return self.port == 0 and not self.api_url and not self.state().get("api_url")

    def client_token(self) -> str | None:
        """LONGTAIL_TOKEN, else the token file of the local stack."""
        if self.token:
            return self.token
        try:
            return (self.home / "token").read_text().strip()
        except (FileNotFoundError, PermissionError):
            return None


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there.

    >>> is_loopback("127.0.0.2"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def derive_role_password(owner_password: str, role: ServiceRole) -> str:
    """The password of a service role: one secret to keep, several roles that cannot act as its owner."""
    return hmac.new(owner_password.encode(), role.encode(), hashlib.sha256).hexdigest()


def derive_role_url(owner_url: str, role: ServiceRole) -> str:
    """The owner's address with the role's name, and its derived password where the owner has one.

    >>> derive_role_url("postgresql://me@/db?host=/run/pg", "longtail_api")
    'postgresql://longtail_api@/db?host=/run/pg'
    """
    parts = urlsplit(owner_url)
    credentials = quote(role)
    if parts.password:
        credentials += ":" + derive_role_password(unquote(parts.password), role)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{credentials}@{host}"))


def sqlalchemy_url(url: str) -> str:
    """The same address, naming the driver we use."""
    scheme, _, rest = url.partition("://")
    return f"postgresql+psycopg://{rest}" if scheme in {"postgres", "postgresql"} else url


def kombu_url(url: str) -> str:
    """The same Redis address as Celery's transport spells it: `unix:///x` is `redis+socket:///x` there."""
    return "redis+socket://" + url.removeprefix("unix://") if url.startswith("unix://") else url


def without_password(url: str | None) -> str | None:
    """The address as it may be shown and logged."""
    if not url:
        return url
    parts = urlsplit(url)
    if parts.password is None:
        return url
    user, _, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}:***@{host}"))


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """The process's settings; read once."""
    return Settings()


def secret_file_mode_is_private(path: Path) -> bool:
    """Whether nobody but its owner can read the file."""
    return os.stat(path).st_mode & 0o077 == 0
