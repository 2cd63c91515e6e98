"""What an authored file guarantees: every leaf node in exactly one tier (memory-model.md section 6).

Hard nodes enter every prompt verbatim, soft nodes as the longest prefix that fits, lore is found by search.
The hard sum has a cap, checked when a document is loaded: a rule is never cut, so it must fit before it counts.
"""

import enum
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from models.domain.rules.detector import DeonticReading, RuleConflict, find_conflicts, read_authored
from models.domain.rules.introductions import lend_force

RULES_VERSION: Final = "2"  # raise it when parsing, tiers or the detector change: cached partitions then miss
HARD_KINDS: Final = frozenset({"list_item", "front_matter"})  # section 6, tier 1
PROSE_KINDS: Final = frozenset({"list_item", "block_quote", "paragraph"})  # what the detector is asked about
EXCERPT_CHARACTERS: Final = 80  # enough of a demoted item to recognise it in a report

ReservePolicy = Literal["refuse", "demote"]
DocumentKind = Literal["authored", "note"]  # rules for every prompt, or something that only recall finds


class Tier(enum.IntEnum):
    """What a node is promised; the numbers are those of `longtail docs check --json`."""

    LORE = 0
    HARD = 1
    SOFT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A way from a node to another document or section: an edge that recall may hop along.

    An empty target is the document itself; `fragment` names a section.
    """

    target: str
    fragment: str | None
    style: Literal["markdown", "wiki"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One leaf of a parsed document: `document_bytes[start:end]` is `text`, in UTF-8."""

    kind: str  # "list_item", "front_matter", "paragraph", "block_quote", "code_fence", "table", ...
    start: int
    end: int
    text: str
    heading_path: tuple[str, ...]  # outermost first; empty before the first heading
    links: tuple[Link, ...] = ()
    introductions: tuple[str, ...] = ()  # of a list item: the sentences above its lists, outermost first
    is_introduction: bool = False  # nothing but the sentence that introduces the list below it


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthoredNode:
    """A block with its tier, its cost and the rules found in it.

    `heading_path` is all that its text stands under: the headings, then the introductions of its lists. It is
    rendered with the text, so that a rule says in the prompt what it says in the file.
    """

    position: int  # 0-based, in source order
    kind: str
    tier: Tier
    start: int
    end: int
    tokens: int
    text: str
    heading_path: tuple[str, ...]
    reading: DeonticReading  # spans count code points of `text`
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demotion:
    """A list item that lost its guarantee to make the hard reserve fit, and why that one."""

    position: int
    start: int  # byte offset in the document
    tokens: int
    excerpt: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A document as ordered nodes, each in one tier, with the sums that the budget is checked against."""

    nodes: tuple[AuthoredNode, ...]
    conflicts: tuple[RuleConflict, ...]
    hard_tokens: int
    soft_tokens: int
    lore_tokens: int
    demotions: tuple[Demotion, ...]
    rules_version: str
    tokenizer_id: str

    @property
    def hard(self) -> tuple[AuthoredNode, ...]:
        """Return the nodes that enter every prompt, in source order."""
        return _select(self.nodes, Tier.HARD)

    @property
    def soft(self) -> tuple[AuthoredNode, ...]:
        """Return the nodes that enter as a prefix, in source order."""
        return _select(self.nodes, Tier.SOFT)

    @property
    def lore(self) -> tuple[AuthoredNode, ...]:
        """Return the nodes that only search brings in, in source order."""
        return _select(self.nodes, Tier.LORE)


class HardReserveExceeded(ValueError):
    """The hard rules of a document cost more than their reserve; nothing was loaded.

    Under "demote", `hard_tokens` is what is left once every list item without a rule has been demoted.
    """

    def __init__(self, hard_tokens: int, hard_cap_tokens: int, policy: ReservePolicy = "refuse") -> None:
        self.hard_tokens = hard_tokens
        self.hard_cap_tokens = hard_cap_tokens
        self.policy = policy
        if policy == "refuse":
            what, also = "the hard rules", ", or load with the policy 'demote'"
        else:
            what, also = "the hard rules that cannot be demoted", ""
        super().__init__(
            f"{what} cost {hard_tokens} tokens, the hard reserve holds {hard_cap_tokens}; "
            f"shorten the list items, raise the budget or the hard fraction{also}"
        )

    def __reduce__(self) -> tuple[type["HardReserveExceeded"], tuple[int, int, ReservePolicy]]:
        """Rebuild from the numbers, not the message: the error may cross a process boundary."""
        return type(self), (self.hard_tokens, self.hard_cap_tokens, self.policy)


def partition_blocks(
    blocks: Iterable[Block],
    *,
    count_tokens: Callable[[str], int],
    tokenizer_id: str,
    read: Callable[[str], DeonticReading] = read_authored,
) -> Partition:
    """Return the blocks as nodes, each in exactly one tier, with costs, rules and conflicts.

    List items and front matter are hard; block quotes, and paragraphs with a rule, are soft; the rest is lore.
    A sentence that introduces a list goes with its items, which are read with its force, as a heading goes with
    what it heads: alone, "You must not:" would forbid whatever comes next.
    Raises ValueError when blocks overlap or come out of order.

    >>> rule = Block(kind="list_item", start=0, end=11, text="- Use tabs.", heading_path=())
    >>> partition_blocks([rule], count_tokens=len, tokenizer_id="chars").hard_tokens
    11
    """
    nodes: list[AuthoredNode] = []
    readings: list[DeonticReading] = []
    silent = DeonticReading(spans=())
    last_end = 0
    for position, block in enumerate(blocks):
        if not last_end <= block.start <= block.end:
            raise ValueError(
                f"block {position} spans bytes {block.start} to {block.end}, the one before it ends at {last_end}; "
                "pass blocks in source order, without overlap"
            )
        last_end = block.end
        reading = silent
        if block.kind in PROSE_KINDS and not block.is_introduction:
            reading = lend_force(block.introductions, block.text, read(block.text))
            readings.append(reading)
        nodes.append(
            AuthoredNode(
                position=position,
                kind=block.kind,
                tier=choose_tier(block.kind, is_rule=reading.is_rule),
                start=block.start,
                end=block.end,
                tokens=count_tokens(block.text),
                text=block.text,
                heading_path=block.heading_path + block.introductions,
                reading=reading,
                links=block.links,
            )
        )
    return Partition(
        nodes=tuple(nodes),
        conflicts=find_conflicts(readings),
        hard_tokens=_sum_tokens(nodes, Tier.HARD),
        soft_tokens=_sum_tokens(nodes, Tier.SOFT),
        lore_tokens=_sum_tokens(nodes, Tier.LORE),
        demotions=(),
        rules_version=RULES_VERSION,
        tokenizer_id=tokenizer_id,
    )


def choose_tier(kind: str, *, is_rule: bool) -> Tier:
    """Return the tier of a node from its kind and whether the detector found a rule in it.

    >>> choose_tier("paragraph", is_rule=True).name, choose_tier("table", is_rule=True).name
    ('SOFT', 'LORE')
    """
    if kind in HARD_KINDS:
        return Tier.HARD
    if kind == "block_quote" or (kind == "paragraph" and is_rule):
        return Tier.SOFT
    return Tier.LORE


def enforce_hard_reserve(partition: Partition, *, hard_cap_tokens: int, policy: ReservePolicy) -> Partition:
    """Return a partition whose hard sum is at most the cap, or raise HardReserveExceeded with both numbers.

    "refuse" changes nothing. "demote" turns list items without a rule into lore, longest first, only until the
    sum fits; of two equally long ones the later goes first, as files tend to open with what matters most.
    """
    if policy not in get_args(ReservePolicy):
        raise ValueError(f"reserve policy is {policy!r}; use 'refuse' or 'demote'")
    if partition.hard_tokens <= hard_cap_tokens:
        return partition
    if policy == "refuse":
        raise HardReserveExceeded(partition.hard_tokens, hard_cap_tokens)
    demotable = [node for node in partition.hard if node.kind == "list_item" and not node.reading.is_rule]
    demotable.sort(key=lambda node: (-node.tokens, -node.position))
    hard_tokens = partition.hard_tokens
    demotions: list[Demotion] = []
    for node in demotable:
        if hard_tokens <= hard_cap_tokens:
            break
        hard_tokens -= node.tokens
        demotions.append(_explain_demotion(node, hard_cap_tokens))
    if hard_tokens > hard_cap_tokens:
        raise HardReserveExceeded(hard_tokens, hard_cap_tokens, policy)
    demoted = {demotion.position for demotion in demotions}
    nodes = tuple(
        replace(node, tier=Tier.LORE) if node.position in demoted else node for node in partition.nodes
    )
    return replace(
        partition,
        nodes=nodes,
        hard_tokens=hard_tokens,
        lore_tokens=_sum_tokens(nodes, Tier.LORE),
        demotions=partition.demotions + tuple(demotions),
    )


def read_as_notes(partition: Partition) -> Partition:
    """Return the same nodes as lore: a note promises nothing, so its lists cost no prompt anything.

    >>> item = Block(kind="list_item", start=0, end=11, text="- Use tabs.", heading_path=())
    >>> note = read_as_notes(partition_blocks([item], count_tokens=len, tokenizer_id="chars"))
    >>> note.hard_tokens, note.lore_tokens
    (0, 11)
    """
    nodes = tuple(replace(node, tier=Tier.LORE) for node in partition.nodes)
    return replace(
        partition,
        nodes=nodes,
        conflicts=(),
        hard_tokens=0,
        soft_tokens=0,
        lore_tokens=_sum_tokens(nodes, Tier.LORE),
    )


def partition_key(document: str, tokenizer_id: str) -> str:
    """Return the cache key of a partition: SHA-256 over document, tokenizer id and rules version, in hex.

    Each part is preceded by its length, so no two triples share a byte string.

    >>> partition_key("- a", "chars") == partition_key("- a", "bert")
    False
    """
    digest = hashlib.sha256()
    for part in (RULES_VERSION, tokenizer_id, document):
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()


def _explain_demotion(node: AuthoredNode, hard_cap_tokens: int) -> Demotion:
    excerpt = " ".join(node.text.split())[:EXCERPT_CHARACTERS]
    return Demotion(
        position=node.position,
        start=node.start,
        tokens=node.tokens,
        excerpt=excerpt,
        reason=f"list item without a rule, hard reserve of {hard_cap_tokens} tokens exceeded",
    )


def _select(nodes: Iterable[AuthoredNode], tier: Tier) -> tuple[AuthoredNode, ...]:
    return tuple(node for node in nodes if node.tier is tier)


def _sum_tokens(nodes: Iterable[AuthoredNode], tier: Tier) -> int:
    return sum(node.tokens for node in nodes if node.tier is tier)
