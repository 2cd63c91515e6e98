"""Every table, as SQLAlchemy 2 knows it; migrations create them, `alembic check` keeps the two alike.

`tenant_id` is in every table that holds a tenant's data, first in every index, and the subject of a row
security policy. What the service learns about a turn lives beside `turns`, never in it: raw turns are
append-only for everybody but the owner.
"""

from typing import Final

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    ARRAY,
    REAL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    DateTime,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

SCHEMA: Final = "longtail"
MAX_CONTENT_BYTES: Final = 4 * 1024 * 1024  # the database's own limit; the API's is lower and configurable
MAX_NAME_LENGTH: Final = 512
PENDING_STAGES: Final = ("accepted", "ingested", "embedded")
JOURNAL_EVENTS: Final = ("before_reset", "session_end", "before_compaction")

metadata = MetaData(
    schema=SCHEMA,
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    },
)


def _id() -> Column[object]:
    return Column("id", Uuid(), primary_key=True, server_default=text("uuidv7()"))


def _tenant() -> Column[object]:
    return Column("tenant_id", Uuid(), nullable=False)


def _moment(name: str, *, nullable: bool = False, now: bool = True) -> Column[object]:
    default = func.now() if now and not nullable else None
    return Column(name, DateTime(timezone=True), nullable=nullable, server_default=default)


def _text(name: str, *, nullable: bool = False) -> Column[object]:
    return Column(name, Text(), nullable=nullable)


def _unit(name: str, *, nullable: bool = False) -> Column[object]:
    return Column(
        name, Double(), CheckConstraint(f"{name} BETWEEN 0 AND 1", name=f"{name}_in_0_1"), nullable=nullable
    )


def _short(name: str) -> CheckConstraint:
    return CheckConstraint(f"char_length({name}) BETWEEN 1 AND {MAX_NAME_LENGTH}", name=f"{name}_length")


def _one_of(name: str, *values: str) -> CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{name} IN ({listed})", name=f"{name}_known")


# ------------------------------------------------------------------------------------------ who may ask

tenants = Table(
    "tenants",
    metadata,
    _id(),
    _text("name"),
    Column("gate_threshold", Double()),  # null: the configured default
    # The word that marks what we inject as ours (decision 12): random, so that nobody else can say it.
    Column(
        "marker",
        Text(),
        nullable=False,
        server_default=text("left(replace(gen_random_uuid()::text, '-', ''), 16)"),
    ),
    _moment("created_at"),
    UniqueConstraint("name"),
    _short("name"),
)

# What a transaction must know to act for a tenant (decision 47). Service roles read tenant and seal, which tell nothing: the
# secret is not to be found from its hash.
passes = Table(
    "passes",
    metadata,
    Column("tenant", Uuid(), ForeignKey("longtail.tenants.id", ondelete="CASCADE"), primary_key=True),
    Column("secret", Uuid(), nullable=False, server_default=text("gen_random_uuid()")),
    Column("seal", LargeBinary(), Computed("sha256(uuid_send(secret))", persisted=True), nullable=False),
    UniqueConstraint("seal"),
)

tokens = Table(
    "tokens",
    metadata,
    _id(),
    _tenant(),
    Column("token_sha256", LargeBinary(), nullable=False),
    Column("scopes", ARRAY(Text()), nullable=False, server_default="{read,write}"),
    Column("namespaces", ARRAY(Text())),  # that it opens; null, and no agents either: all of the tenant's
    Column("agents", ARRAY(Text())),  # whose documents and memory it opens besides
    _text("label", nullable=True),  # what somebody called it
    _moment("created_at"),
    _moment("expires_at", nullable=True),
    _moment("last_used_at", nullable=True),  # to the minute
    _moment("revoked_at", nullable=True),
    UniqueConstraint("token_sha256"),
    ForeignKeyConstraint(["tenant_id"], [tenants.c.id]),
)

# --------------------------------------------------------------------------------------- the raw record

sessions = Table(
    "sessions",
    metadata,
    _tenant(),
    _text("session_id"),
    _text("namespace"),
    _text("user_id", nullable=True),
    _text("session_key", nullable=True),
    _text("agent_id", nullable=True),
    Column("next_position", BigInteger(), nullable=False, server_default="0"),
    _moment("created_at"),
    _moment("last_turn_at"),
    Column("is_shared", Boolean(), nullable=False, server_default="false"),  # opened for every identity
    PrimaryKeyConstraint("tenant_id", "session_id"),
    ForeignKeyConstraint(["tenant_id"], [tenants.c.id]),
    _short("session_id"),
    Index(None, "tenant_id", "namespace"),
    Index("ix_sessions_shared", "tenant_id", "session_id", postgresql_where=text("is_shared")),
)

turns = Table(
    "turns",
    metadata,
    _id(),
    _tenant(),
    _text("session_id"),
    Column("position", BigInteger(), nullable=False),  # order within the session
    Column("seq", BigInteger(), Identity(always=True), nullable=False),  # order of arrival, everywhere
    _text("namespace"),
    _text("role"),
    _text("content"),
    _text("name", nullable=True),
    _text("host_message_id", nullable=True),
    _text("dedup_key"),  # what makes a second sending of the same turn the same turn
    Column("content_sha256", LargeBinary(), nullable=False),
    _moment("ts"),  # when it was said, by the host's word
    _moment("accepted_at"),  # when it was kept, by ours
    Column("metadata", JSONB(), nullable=False, server_default="{}"),
    Column("tokens", Integer()),  # by the `chars` counter; null: kept and indexed before it was counted here
    UniqueConstraint("tenant_id", "session_id", "position"),
    UniqueConstraint("tenant_id", "session_id", "dedup_key"),
    ForeignKeyConstraint(["tenant_id", "session_id"], [sessions.c.tenant_id, sessions.c.session_id]),
    _one_of("role", "user", "assistant", "system", "tool"),
    CheckConstraint(f"octet_length(content) BETWEEN 1 AND {MAX_CONTENT_BYTES}", name="content_size"),
    CheckConstraint("octet_length(content_sha256) = 32", name="content_sha256_length"),
)

# ---------------------------------------------------------------------------------- the pipeline's state

work = Table(
    "work",  # what is still to be done for a turn or an authored node; a row is never removed, it ends "done"
    metadata,
    Column("item_id", Uuid(), primary_key=True),
    _tenant(),
    _text("kind"),
    Column("seq", BigInteger(), Identity(always=True), nullable=False),
    _text("namespace"),
    Column("stage", Text(), nullable=False, server_default="accepted"),
    Column("attempts", SmallInteger(), nullable=False, server_default="0"),
    _moment("not_before"),  # the end of a lease while somebody works on it, or of a pause after a failure
    Column("lease_id", Uuid()),  # of the claim that holds the row, or held it last
    _text("last_error", nullable=True),
    _moment("accepted_at"),
    _moment("updated_at"),
    _one_of("kind", "turn", "node", "summary"),  # a summary waits here only when it was imported
    _one_of("stage", *PENDING_STAGES, "done", "failed"),
    Index(
        "ix_work_claim",
        "stage",
        "tenant_id",
        "seq",
        postgresql_where=text("stage IN ('accepted', 'ingested', 'embedded')"),
    ),
    Index(
        "ix_work_tried",
        "stage",
        "not_before",
        postgresql_where=text("stage IN ('accepted', 'ingested', 'embedded') AND attempts > 0"),
    ),
    Index(
        "ix_work_pending_of_namespace",
        "tenant_id",
        "namespace",
        "accepted_at",
        postgresql_where=text("stage IN ('accepted', 'ingested', 'embedded')"),
    ),
)

dead_letters = Table(
    "dead_letters",
    metadata,
    _id(),
    _tenant(),
    Column("item_id", Uuid(), nullable=False),
    _text("stage"),
    _text("reason"),
    Column("attempts", SmallInteger(), nullable=False),
    _moment("failed_at"),
    UniqueConstraint("item_id", "stage"),
    Index(None, "tenant_id", "failed_at"),
)

# --------------------------------------------------------------------------- what was learned from turns

items = Table(
    "items",  # everything recall can find, one row each; rebuilt from the truth it points to
    metadata,
    Column("id", Uuid(), primary_key=True),  # the turn's, memory's or node's own id
    _tenant(),
    _text("kind"),
    _text("namespace"),
    _text("session_id", nullable=True),
    _text("role", nullable=True),
    _text("name", nullable=True),
    _text("body", nullable=True),  # null for turns that hold nothing of ours: their text is in `turns`
    _moment("ts"),
    Column("token_estimate", Integer(), nullable=False),
    _text("provenance_class"),
    _unit("stability_weight"),
    _unit("authority"),
    _unit("anchor_density"),
    Column("modalities", ARRAY(Text()), nullable=False, server_default="{}"),
    Column("identifiers", ARRAY(Text()), nullable=False, server_default="{}"),
    Column("terms", ARRAY(Text()), nullable=False, server_default="{}"),  # stemmed; also in `postings`
    Column("word_count", Integer(), nullable=False, server_default="0"),
    Column("source_turn_ids", ARRAY(Uuid()), nullable=False, server_default="{}"),
    Column("access_count", Integer(), nullable=False, server_default="0"),  # how often it was in a prompt
    Column(
        "useful_count", Integer(), nullable=False, server_default="0"
    ),  # called useful less called useless
    Column("is_active", Boolean(), nullable=False, server_default="true"),
    _moment("created_at"),
    _one_of("kind", "turn", "rule", "lore", "summary"),  # a memory is the item of its turn
    Index(None, "tenant_id", "namespace", "kind"),
)

# The lexical index: what BM25 needs, kept by `index_items` and by the trigger on `items`.

namespaces = Table(
    "namespaces",  # how much each namespace holds
    metadata,
    Column("id", Integer(), Identity(always=True), primary_key=True),
    _tenant(),
    _text("namespace"),
    Column("item_count", BigInteger(), nullable=False, server_default="0"),
    Column("word_count", BigInteger(), nullable=False, server_default="0"),
    UniqueConstraint("tenant_id", "namespace"),
)

lexicon = Table(
    "lexicon",  # in how many items of a namespace a term stands
    metadata,
    Column("namespace_id", Integer(), nullable=False),
    _text("term"),
    _tenant(),
    Column("item_count", Integer(), nullable=False),
    PrimaryKeyConstraint("namespace_id", "term"),
)

postings = Table(
    "postings",  # which items hold a term, those that it says most about first
    metadata,
    Column("namespace_id", Integer(), nullable=False),
    _text("term"),
    Column("impact", REAL(), nullable=False),  # the term's BM25 weight in the item, but for its rarity
    Column("item_id", Uuid(), nullable=False),
    _tenant(),
    Index(
        "ix_postings_by_impact", "namespace_id", "term", text("impact DESC"), postgresql_include=["item_id"]
    ),
)

gate_decisions = Table(
    "gate_decisions",
    metadata,
    Column("turn_id", Uuid(), primary_key=True),
    _tenant(),
    _text("namespace"),
    Column("keep", Boolean(), nullable=False),
    Column("threshold", Double(), nullable=False),
    *(
        _unit(name)
        for name in (
            *("g", "t", "h", "r", "d", "input_freq", "mem_saturation"),
            *("p", "a", "dtech", "gconv", "gtech"),
        )
    ),
    _unit("worth", nullable=True),  # null: decided before it was measured
    _unit("score"),  # what the threshold decided on
    Column("reasons", ARRAY(Text()), nullable=False, server_default="{}"),
    Column("memory_id", Uuid()),  # the memory it became or reinforced
    Column("is_reinforcement", Boolean(), nullable=False, server_default="false"),
    _moment("decided_at"),
    ForeignKeyConstraint(["turn_id"], [turns.c.id]),
    Index(None, "tenant_id", "namespace", "decided_at"),
)

memories = Table(
    "memories",  # durable: what a user said that passed the gate
    metadata,
    _id(),
    _tenant(),
    _text("namespace"),
    Column("turn_id", Uuid(), nullable=False),
    _text("body"),
    _unit("gate_score"),
    Column("mention_count", Integer(), nullable=False, server_default="1"),
    _moment("first_seen_at"),
    _moment("last_seen_at"),
    _moment("corrected_at", nullable=True),  # its words are somebody's correction, not the turn's
    _moment("forgotten_at", nullable=True),  # it is recalled no more
    UniqueConstraint("turn_id"),
    ForeignKeyConstraint(["turn_id"], [turns.c.id]),
    Index(None, "tenant_id", "namespace"),
)

memory_revisions = Table(
    "memory_revisions",  # what a memory said before it was corrected
    metadata,
    _id(),
    _tenant(),
    Column("memory_id", Uuid(), nullable=False),
    _text("body"),
    _text("reason", nullable=True),
    _moment("replaced_at"),
    ForeignKeyConstraint(["memory_id"], [memories.c.id]),
    Index(None, "tenant_id", "memory_id", "replaced_at"),
    Index(None, "memory_id"),  # erasing looks for what refers to each row that goes
)

forgotten = Table(
    "forgotten",  # what never comes back into recall, however often its turn is processed
    metadata,
    Column("item_id", Uuid(), primary_key=True),  # a turn's: the turn itself stays in the raw record
    _tenant(),
    _text("namespace"),
    _text("reason", nullable=True),
    _moment("forgotten_at"),
    Index(None, "tenant_id", "namespace", "forgotten_at"),
)

memory_sources = Table(
    "memory_sources",  # lineage: every turn that made or reinforced a memory
    metadata,
    _tenant(),
    Column("memory_id", Uuid(), nullable=False),
    Column("turn_id", Uuid(), nullable=False),
    Column("similarity", Double(), nullable=False),
    _moment("linked_at"),
    PrimaryKeyConstraint("memory_id", "turn_id"),
    ForeignKeyConstraint(["memory_id"], [memories.c.id]),
    ForeignKeyConstraint(["turn_id"], [turns.c.id]),
    Index(None, "turn_id"),
)

guidance = Table(
    "guidance",  # rules and standing wishes spoken in conversation, verbatim
    metadata,
    _id(),
    _tenant(),
    _text("collection"),  # elevated:user:<namespace> or elevated:session:<id>
    Column("turn_id", Uuid(), nullable=False),
    _text("body"),
    Column("modalities", ARRAY(Text()), nullable=False),
    _unit("stability_weight"),
    _moment("stated_at"),
    Column("superseded_by", Uuid()),
    _moment("forgotten_at", nullable=True),
    Column("claims", JSONB()),  # what it asks: pairs of modality and action; NULL: not read yet
    _moment("expires_at", nullable=True),  # "until Friday"; NULL: no end is known
    _moment("corrected_at", nullable=True),  # since then in the user's other words, which no reading changes
    UniqueConstraint("turn_id"),
    ForeignKeyConstraint(["turn_id"], [turns.c.id]),
    Index(None, "tenant_id", "collection", "stated_at"),
)

statements = Table(
    "statements",  # what user turns state, by sentence: what a later one may replace
    metadata,
    Column("turn_id", Uuid(), nullable=False),
    Column("ordinal", SmallInteger(), nullable=False),
    _tenant(),
    _text("namespace"),
    _text("encoder"),  # whose vector it is: only vectors of one encoder are compared
    _text("body"),
    Column("embedding", HALFVEC(), nullable=False),
    PrimaryKeyConstraint("turn_id", "ordinal", "encoder"),
    ForeignKeyConstraint(["turn_id"], [items.c.id], ondelete="CASCADE"),
    Index(None, "tenant_id", "namespace", "turn_id"),
)

supersessions = Table(
    "supersessions",  # which turn says what is so now instead of which; gone with either of the two
    metadata,
    Column("older_turn_id", Uuid(), nullable=False),
    Column("newer_turn_id", Uuid(), nullable=False),
    _tenant(),
    _text("namespace"),
    _text("older_statement"),
    _text("newer_statement"),
    _text("reason"),
    _text("about"),
    Column("similarity", Double()),  # of the two sentences; null: decided by what they ask
    _moment("changed_at", now=False),  # when the newer was said
    _moment("found_at"),
    PrimaryKeyConstraint("older_turn_id", "newer_turn_id"),
    ForeignKeyConstraint(["older_turn_id"], [items.c.id], ondelete="CASCADE"),
    ForeignKeyConstraint(["newer_turn_id"], [items.c.id], ondelete="CASCADE"),
    Index(None, "newer_turn_id"),
)

feedback = Table(
    "feedback",  # a host's word on whether something recalled was useful: what the gate is calibrated on
    metadata,
    _id(),
    _tenant(),
    Column("turn_id", Uuid(), nullable=False),  # the turn whose gate decision is judged
    Column("item_id", Uuid(), nullable=False),  # what the host named: a memory or a turn
    Column("assembly_id", Text(), nullable=False, server_default=""),
    Column("is_useful", Boolean(), nullable=False),
    _moment("given_at"),
    UniqueConstraint("tenant_id", "item_id", "assembly_id"),
    Index(None, "turn_id"),
    ForeignKeyConstraint(["turn_id"], [turns.c.id]),
)

assemblies = Table(
    "assemblies",  # receipts: how a prompt came about; sampled, and only the newest are kept
    metadata,
    Column("id", Uuid(), primary_key=True),
    _tenant(),
    _text("namespace"),
    _text("session_id"),
    Column("receipt", JSONB(), nullable=False),
    _moment("made_at"),
    Index(None, "tenant_id", "made_at"),
)

# ------------------------------------------------------------------------------------ authored documents

documents = Table(
    "documents",
    metadata,
    _id(),
    _tenant(),
    _text("name"),
    Column("binding", Text(), nullable=False, server_default="tenant"),  # tenant, user:<id> or agent:<id>
    _text("body"),
    Column("body_sha256", LargeBinary(), nullable=False),
    _text("rules_version"),
    Column("hard_tokens", Integer(), nullable=False),
    _moment("loaded_at"),
    UniqueConstraint("tenant_id", "binding", "name"),
    _short("name"),
)

document_nodes = Table(
    "document_nodes",
    metadata,
    _id(),
    _tenant(),
    Column("document_id", Uuid(), nullable=False),
    Column("position", Integer(), nullable=False),
    _text("kind"),
    Column("tier", SmallInteger(), nullable=False),
    Column("start_byte", Integer(), nullable=False),
    Column("end_byte", Integer(), nullable=False),
    _text("body"),
    Column("heading_path", ARRAY(Text()), nullable=False, server_default="{}"),
    Column("modalities", ARRAY(Text()), nullable=False, server_default="{}"),
    Column("links", JSONB(), nullable=False, server_default="[]"),
    UniqueConstraint("document_id", "position"),
    ForeignKeyConstraint(["document_id"], [documents.c.id], ondelete="CASCADE"),
    CheckConstraint("tier BETWEEN 0 AND 2", name="tier_known"),
)

# ------------------------------------------------------------------------------------------- compaction

summaries = Table(
    "summaries",  # what stands for older turns; derived, so it can be dropped and made again
    metadata,
    Column("id", Uuid(), primary_key=True),  # made from session, level and sources: same input, same id
    _tenant(),
    _text("session_id"),
    _text("namespace"),
    Column("level", SmallInteger(), nullable=False),  # 1 covers turns, n + 1 covers summaries of level n
    _text("body"),
    _text("method"),
    _text("attempt"),
    _text("backend"),
    _unit("confidence"),
    Column("align", Double(), nullable=False),
    _unit("cover"),
    Column("prior_ids", ARRAY(Uuid()), nullable=False, server_default="{}"),
    Column("summary_tokens", Integer(), nullable=False),
    Column("source_tokens", BigInteger(), nullable=False),  # what it replaces; verbatim shards not counted
    Column("turn_count", Integer(), nullable=False),  # raw turns below it
    Column("turn_tokens", BigInteger(), nullable=False),  # and what they cost
    Column("first_position", BigInteger(), nullable=False),
    Column("last_position", BigInteger(), nullable=False),
    _moment("earliest_at", now=False),
    _moment("latest_at", now=False),
    _moment("made_at"),
    Column("generation", BigInteger(), nullable=False),
    Column("is_active", Boolean(), nullable=False, server_default="true"),  # false: a higher one covers it
    ForeignKeyConstraint(["tenant_id", "session_id"], [sessions.c.tenant_id, sessions.c.session_id]),
    _one_of("method", "abstractive", "extractive"),
    _one_of("attempt", "normal", "aggressive", "fallback"),
    CheckConstraint("level >= 1", name="level_from_1"),
    CheckConstraint("align BETWEEN -1 AND 1", name="align_in_range"),
    CheckConstraint("summary_tokens BETWEEN 1 AND source_tokens - 1", name="makes_progress"),
    CheckConstraint("turn_count >= 1", name="covers_turns"),
    Index(None, "tenant_id", "session_id", "level", "first_position"),
)

summary_turns = Table(
    "summary_turns",  # coverage, summary to turn; the key lets no turn be summarised twice
    metadata,
    _tenant(),
    Column("turn_id", Uuid(), primary_key=True),
    Column("summary_id", Uuid(), nullable=False),
    Column("ordinal", Integer(), nullable=False),
    Column("tokens", Integer(), nullable=False),
    Column(
        "is_protected", Boolean(), nullable=False, server_default="false"
    ),  # kept verbatim, not summarised
    ForeignKeyConstraint(["turn_id"], [turns.c.id]),
    ForeignKeyConstraint(["summary_id"], [summaries.c.id]),
    UniqueConstraint("summary_id", "ordinal"),
)

summary_children = Table(
    "summary_children",  # coverage, summary to summary
    metadata,
    _tenant(),
    Column("child_id", Uuid(), primary_key=True),
    Column("parent_id", Uuid(), nullable=False),
    Column("ordinal", Integer(), nullable=False),
    ForeignKeyConstraint(["child_id"], [summaries.c.id]),
    ForeignKeyConstraint(["parent_id"], [summaries.c.id]),
    UniqueConstraint("parent_id", "ordinal"),
    CheckConstraint("child_id <> parent_id", name="no_self_coverage"),
)

compactions = Table(
    "compactions",  # where a session stands with its compaction, and who asked for the next one
    metadata,
    _tenant(),
    _text("session_id"),
    Column("generation", BigInteger(), nullable=False, server_default="0"),
    Column(
        "covered_through", BigInteger(), nullable=False, server_default="-1"
    ),  # every turn up to it is covered
    Column("uncompacted_tokens", BigInteger(), nullable=False, server_default="0"),  # the tail's included
    _moment("counted_at", nullable=True),  # when turns were last added to it
    _moment("ran_at", nullable=True),  # when the last compaction that ended began
    Column("attempts", SmallInteger(), nullable=False, server_default="0"),
    _moment("not_before"),
    _moment("requested_at", nullable=True),
    Column("is_forced", Boolean(), nullable=False, server_default="false"),
    _moment("served_at", nullable=True),  # the newest request that was answered
    Column("outcome", JSONB()),  # its answer
    PrimaryKeyConstraint("tenant_id", "session_id"),
    ForeignKeyConstraint(["tenant_id", "session_id"], [sessions.c.tenant_id, sessions.c.session_id]),
)

journal = Table(
    "journal",  # hints about a session's life; advisory, bounded, never recalled
    metadata,
    _id(),
    _tenant(),
    _text("session_id"),
    _text("namespace"),
    _text("event"),
    _text("reason", nullable=True),
    Column("metadata", JSONB(), nullable=False, server_default="{}"),
    _moment("recorded_at"),
    _one_of("event", *JOURNAL_EVENTS),
    _short("session_id"),
    Index(None, "tenant_id", "recorded_at"),
)

lineage_checks = Table(
    "lineage_checks",  # what the scheduled proof of losslessness found, newest last
    metadata,
    _id(),
    _tenant(),
    Column("sessions", Integer(), nullable=False),
    Column("summaries", Integer(), nullable=False),
    Column("turns", Integer(), nullable=False),
    Column("violations", Integer(), nullable=False),
    Column("kinds", JSONB(), nullable=False, server_default="{}"),
    Column("seconds", Double(), nullable=False),
    _moment("checked_at"),
    Index(None, "tenant_id", "checked_at"),
)

task_runs = Table(
    "task_runs",  # when each scheduled task last ran, and how it ended; of no tenant
    metadata,
    Column("name", Text(), primary_key=True),
    _moment("began_at", now=False),
    Column("seconds", Double(), nullable=False),
    _text("error", nullable=True),
    Column("runs", BigInteger(), nullable=False),
    Column("failures", BigInteger(), nullable=False),
)

# ------------------------------------------------------------------------------------------- the surface

erasures = Table(
    "erasures",  # who erased what, when, and how much of each kind; no words
    metadata,
    _id(),
    _tenant(),
    _text("namespace"),
    Column("token_id", Uuid()),
    _text("reason", nullable=True),
    Column("counts", JSONB(), nullable=False, server_default="{}"),
    _moment("erased_at"),
    Column("kind", Text(), nullable=False, server_default="namespace"),  # or session, memory, document
    _text("target", nullable=True),  # the id or name of it; null for a namespace
    Index(None, "tenant_id", "erased_at"),
)

tombstones = Table(
    "tombstones",  # hashes of what was erased, with the tenant's salt: enough to know it again, not to read it
    metadata,
    _tenant(),
    Column("mark", LargeBinary(), nullable=False),
    _moment("erased_at"),
    PrimaryKeyConstraint("tenant_id", "mark"),
)

tombstone_salts = Table(
    "tombstone_salts",  # no service role reads it
    metadata,
    _tenant(),
    _text("salt"),
    PrimaryKeyConstraint("tenant_id"),
)

idempotency_keys = Table(
    "idempotency_keys",  # answers to writes, kept for a while, so that a repeated call gets the same one
    metadata,
    _tenant(),
    _text("key"),
    Column("request_sha256", LargeBinary(), nullable=False),
    Column("status", SmallInteger()),  # null while the first call still runs
    _text("content_type", nullable=True),
    Column("answer", LargeBinary()),
    _moment("begun_at"),
    PrimaryKeyConstraint("tenant_id", "key"),
    _short("key"),
    Index(None, "tenant_id", "begun_at"),
)

# ------------------------------------------------------------------------------------ named collections

records = Table(
    "records",  # what JSON-RPC clients call things: their id and metadata for a row of ours, or a text of their own
    metadata,
    _tenant(),
    _text("collection"),
    _text("id"),  # the client's
    _text("namespace", nullable=True),  # whose it is, where the collection says so
    Column("item_id", Uuid()),  # the turn it names; null: the text is here
    _text("body", nullable=True),
    Column("metadata", JSONB(), nullable=False, server_default="{}"),
    _text("encoder", nullable=True),
    Column("embedding", HALFVEC()),  # of a text that is here; its encoder decides how long it is
    Column("access_count", Integer(), nullable=False, server_default="0"),
    _moment("created_at"),
    _moment("updated_at"),
    PrimaryKeyConstraint("tenant_id", "collection", "id"),
    _short("collection"),
    _short("id"),
    CheckConstraint(f"octet_length(body) BETWEEN 1 AND {MAX_CONTENT_BYTES}", name="body_size"),
    Index(None, "tenant_id", "item_id", postgresql_where=text("item_id IS NOT NULL")),
    Index(None, "tenant_id", "namespace"),
)

# --------------------------------------------------------------------------------------------- encoders

encoders = Table(
    "encoders",  # which encoder filled which table, and exactly which model that was
    metadata,
    Column("name", Text(), primary_key=True),
    _text("table_name"),
    Column("fingerprint", JSONB(), nullable=False),
    _text("digest"),
    Column("dimensions", Integer(), nullable=False),
    Column("is_active", Boolean(), nullable=False, server_default="false"),  # what searches are served by
    _text("source"),  # what LONGTAIL_ENCODER would say to load it
    # Beside the active one: `filling` gets what is missing, then takes over; `standby` served before, and is kept full.
    _text("duty", nullable=True),
    Column("filled_to", Uuid()),  # of a filling one: items up to this id were looked at
    _moment("leased_until", nullable=True),  # a worker is at it
    _text("problem", nullable=True),  # why it does not go on
    _moment("registered_at"),
    _moment("asked_at", nullable=True),  # when filling it was asked for
    _moment("served_from", nullable=True),  # when it last became the active one
    CheckConstraint("duty IN ('filling', 'standby') AND NOT is_active OR duty IS NULL", name="duty_known"),
    Index("ix_encoders_one_filling", "duty", unique=True, postgresql_where=text("duty = 'filling'")),
    Index("ix_encoders_one_active", "is_active", unique=True, postgresql_where=text("is_active")),
)


def make_embeddings(name: str, dimensions: int, into: MetaData) -> Table:
    """The table of an encoder's vectors; of an encoder that came later, made on demand (models/store/index/tables.py)."""
    table = f"embeddings_{name}"
    return Table(
        table,
        into,
        _tenant(),
        Column("item_id", Uuid(), nullable=False),
        Column("window_no", Integer(), nullable=False),
        _text("kind"),
        _text("namespace"),
        _text("role", nullable=True),
        Column("seq", BigInteger(), nullable=False, server_default="0"),  # the turn's: "past" is exact
        Column("embedding", HALFVEC(dimensions), nullable=False),
        PrimaryKeyConstraint("item_id", "window_no"),
        ForeignKeyConstraint(["item_id"], [items.c.id], name=f"fk_{table}_item_id_items", ondelete="CASCADE"),
        Index(None, "tenant_id", "namespace", "kind"),
        Index(
            f"ix_{table}_nearest",
            "embedding",
            postgresql_using="hnsw",
            postgresql_ops={"embedding": "halfvec_cosine_ops"},
        ),
    )


EMBEDDING_TABLES: Final = {
    "minilm": make_embeddings("minilm", 384, metadata),
    "toy": make_embeddings("toy", 64, metadata),
}

TENANT_TABLES: Final = tuple(
    sorted(table.name for table in metadata.tables.values() if "tenant_id" in table.c)
)
