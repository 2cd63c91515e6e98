"""Tiers, costs, demotion and cache keys of authored documents, with a detector simple enough to reason about."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.rules import tiers as authored
from models.domain.rules.detector import DeonticReading, Modality, RuleSpan
from models.domain.rules.tiers import (
    AuthoredNode,
    Block,
    Demotion,
    HardReserveExceeded,
    Link,
    Partition,
    Tier,
    choose_tier,
    enforce_hard_reserve,
    partition_blocks,
    partition_key,
    read_as_notes,
)

KINDS = (
    "list_item",
    "front_matter",
    "paragraph",
    "block_quote",
    "code_fence",
    "code_block",
    "table",
    "html",
    "heading",
    "thematic_break",
    "link_definition",
    "other",
)


def read_must(text: str) -> DeonticReading:
    """A detector that knows one word: "must", or "must not", and takes the last word as the action."""
    at = text.find("must")
    if at < 0:
        return DeonticReading(spans=())
    modality = Modality.PROHIBITION if text.startswith("must not", at) else Modality.OBLIGATION
    span = RuleSpan(modality=modality, start=at, end=len(text), action=text.split()[-1], cue="must")
    return DeonticReading(spans=(span,))


def make_blocks(*pairs: tuple[str, str]) -> list[Block]:
    blocks = []
    offset = 0
    for kind, text in pairs:
        end = offset + len(text.encode())
        blocks.append(Block(kind=kind, start=offset, end=end, text=text, heading_path=("Top",)))
        offset = end + 1
    return blocks


def partition(*pairs: tuple[str, str]) -> Partition:
    return partition_blocks(make_blocks(*pairs), count_tokens=len, tokenizer_id="len", read=read_must)


class TestTiers:
    @pytest.mark.parametrize(
        ("kind", "without_rule", "with_rule"),
        [
            ("list_item", Tier.HARD, Tier.HARD),
            ("front_matter", Tier.HARD, Tier.HARD),
            ("block_quote", Tier.SOFT, Tier.SOFT),
            ("paragraph", Tier.LORE, Tier.SOFT),
            ("code_fence", Tier.LORE, Tier.LORE),
            ("code_block", Tier.LORE, Tier.LORE),
            ("table", Tier.LORE, Tier.LORE),
            ("html", Tier.LORE, Tier.LORE),
            ("heading", Tier.LORE, Tier.LORE),
            ("thematic_break", Tier.LORE, Tier.LORE),
            ("link_definition", Tier.LORE, Tier.LORE),
            ("other", Tier.LORE, Tier.LORE),
        ],
    )
    def test_the_kind_and_a_rule_decide_the_tier(
        self, kind: str, without_rule: Tier, with_rule: Tier
    ) -> None:
        assert choose_tier(kind, is_rule=False) is without_rule
        assert choose_tier(kind, is_rule=True) is with_rule

    def test_the_numbers_of_the_tiers_are_those_of_the_contract(self) -> None:
        assert (int(Tier.LORE), int(Tier.HARD), int(Tier.SOFT)) == (0, 1, 2)

    def test_a_node_keeps_everything_its_block_knew(self) -> None:
        link = Link(target="b.md", fragment="c", style="markdown")
        block = Block(
            kind="paragraph", start=7, end=22, text="You must é run", heading_path=("A", "B"), links=(link,)
        )
        (node,) = partition_blocks([block], count_tokens=len, tokenizer_id="len", read=read_must).nodes
        assert node == AuthoredNode(
            position=0,
            kind="paragraph",
            tier=Tier.SOFT,
            start=7,
            end=22,
            tokens=14,
            text="You must é run",
            heading_path=("A", "B"),
            reading=read_must("You must é run"),
            links=(link,),
        )

    def test_a_block_has_nothing_that_it_was_not_told(self) -> None:
        block = Block(kind="table", start=0, end=0, text="", heading_path=())
        assert (block.links, block.introductions, block.is_introduction) == ((), (), False)

    def test_introductions_follow_the_headings_of_a_node(self) -> None:
        block = Block(
            kind="list_item",
            start=0,
            end=3,
            text="- a",
            heading_path=("A",),
            introductions=("You:", "Never:"),
        )
        (node,) = partition_blocks([block], count_tokens=len, tokenizer_id="len", read=read_must).nodes
        assert node.heading_path == ("A", "You:", "Never:")
        assert node.reading.modalities == {Modality.PROHIBITION}

    def test_the_detector_is_not_asked_about_an_introduction(self) -> None:
        block = Block(
            kind="paragraph", start=0, end=9, text="You must:", heading_path=(), is_introduction=True
        )
        (node,) = partition_blocks([block], count_tokens=len, tokenizer_id="len", read=read_must).nodes
        assert (node.tier, node.reading.spans) == (Tier.LORE, ())

    def test_sums_and_selections_follow_the_tiers(self) -> None:
        parts = partition(
            ("front_matter", "a: b"),
            ("paragraph", "once upon a time"),
            ("list_item", "- one"),
            ("block_quote", "> quoted"),
            ("paragraph", "you must run"),
            ("list_item", "- two2"),
            ("table", "|must|"),
        )
        assert [node.position for node in parts.nodes] == [0, 1, 2, 3, 4, 5, 6]
        assert [node.position for node in parts.hard] == [0, 2, 5]
        assert [node.position for node in parts.soft] == [3, 4]
        assert [node.position for node in parts.lore] == [1, 6]
        assert (parts.hard_tokens, parts.soft_tokens, parts.lore_tokens) == (4 + 5 + 6, 8 + 12, 16 + 6)
        assert parts.demotions == ()
        assert parts.tokenizer_id == "len"
        assert parts.rules_version == authored.RULES_VERSION

    def test_an_empty_document_has_nothing_in_any_tier(self) -> None:
        parts = partition()
        assert parts.nodes == parts.hard == parts.soft == parts.lore == parts.conflicts == ()
        assert (parts.hard_tokens, parts.soft_tokens, parts.lore_tokens) == (0, 0, 0)

    @pytest.mark.parametrize("kind", KINDS)
    def test_only_prose_is_read_for_rules(self, kind: str) -> None:
        (node,) = partition((kind, "must run")).nodes
        assert node.reading.is_rule == (kind in {"list_item", "block_quote", "paragraph"})

    def test_the_detector_of_the_house_is_the_default(self) -> None:
        blocks = make_blocks(
            ("paragraph", "Never commit secrets."),
            ("paragraph", "The cache was written in 2019 by two people."),
        )
        parts = partition_blocks(blocks, count_tokens=len, tokenizer_id="len")
        assert [node.tier for node in parts.nodes] == [Tier.SOFT, Tier.LORE]
        assert parts.nodes[0].reading.modalities == {Modality.PROHIBITION}

    @given(
        st.lists(
            st.tuples(st.sampled_from(KINDS), st.sampled_from(["", "it is", "you must go", "must not é"]))
        )
    )
    def test_every_node_is_in_exactly_one_tier_and_no_token_is_lost(
        self, pairs: list[tuple[str, str]]
    ) -> None:
        parts = partition(*pairs)
        by_tier = [*parts.hard, *parts.soft, *parts.lore]
        assert sorted(node.position for node in by_tier) == list(range(len(pairs)))
        assert parts.hard_tokens + parts.soft_tokens + parts.lore_tokens == sum(
            len(text) for _, text in pairs
        )
        assert [(node.kind, node.text) for node in parts.nodes] == pairs


class TestOrder:
    def test_blocks_that_touch_are_accepted(self) -> None:
        blocks = [
            Block(kind="other", start=0, end=2, text="ab", heading_path=()),
            Block(kind="other", start=2, end=2, text="", heading_path=()),
        ]
        assert len(partition_blocks(blocks, count_tokens=len, tokenizer_id="len", read=read_must).nodes) == 2

    @pytest.mark.parametrize(("start", "end"), [(1, 3), (4, 3)])
    def test_blocks_that_overlap_or_run_backwards_are_refused_with_their_numbers(
        self, start: int, end: int
    ) -> None:
        blocks = [
            Block(kind="other", start=0, end=2, text="ab", heading_path=()),
            Block(kind="other", start=start, end=end, text="b", heading_path=()),
        ]
        with pytest.raises(ValueError) as caught:
            partition_blocks(blocks, count_tokens=len, tokenizer_id="len", read=read_must)
        assert str(caught.value) == (
            f"block 1 spans bytes {start} to {end}, the one before it ends at 2; "
            "pass blocks in source order, without overlap"
        )


class TestConflicts:
    def test_an_obligation_and_a_ban_of_one_action_are_reported_with_their_nodes(self) -> None:
        parts = partition(
            ("list_item", "- you must squash"),
            ("paragraph", "It is a fine day."),
            ("list_item", "- you must not squash"),
        )
        (conflict,) = parts.conflicts
        assert conflict.obligation is parts.nodes[0].reading.spans[0]
        assert conflict.prohibition is parts.nodes[2].reading.spans[0]

    def test_code_never_takes_part_in_a_conflict(self) -> None:
        parts = partition(("list_item", "- you must squash"), ("code_fence", "you must not squash"))
        assert parts.conflicts == ()


class TestHardReserve:
    def test_a_sum_at_the_cap_is_loaded_unchanged_under_both_policies(self) -> None:
        parts = partition(("list_item", "- abc"), ("paragraph", "a long tale that costs nothing here"))
        assert enforce_hard_reserve(parts, hard_cap_tokens=5, policy="refuse") is parts
        assert enforce_hard_reserve(parts, hard_cap_tokens=5, policy="demote") is parts

    def test_one_token_over_the_cap_is_refused_with_both_numbers_and_the_remedy(self) -> None:
        parts = partition(("list_item", "- abc"))
        with pytest.raises(HardReserveExceeded) as caught:
            enforce_hard_reserve(parts, hard_cap_tokens=4, policy="refuse")
        assert (caught.value.hard_tokens, caught.value.hard_cap_tokens, caught.value.policy) == (
            5,
            4,
            "refuse",
        )
        assert isinstance(caught.value, ValueError)
        assert str(caught.value) == (
            "the hard rules cost 5 tokens, the hard reserve holds 4; shorten the list items, "
            "raise the budget or the hard fraction, or load with the policy 'demote'"
        )

    def test_an_unknown_policy_is_refused_even_when_the_document_fits(self) -> None:
        with pytest.raises(ValueError) as caught:
            enforce_hard_reserve(partition(), hard_cap_tokens=4, policy="shrink")  # type: ignore[arg-type]
        assert str(caught.value) == "reserve policy is 'shrink'; use 'refuse' or 'demote'"

    def test_the_longest_item_without_a_rule_goes_first_and_no_more_than_needed(self) -> None:
        parts = partition(
            ("list_item", "- abc"),  # 5
            ("list_item", "- abcdefgh"),  # 10: the longest without a rule
            ("list_item", "- you must never touch this one"),  # 31, a rule
            ("list_item", "- abcdef"),  # 8
            ("paragraph", "tale"),
        )
        assert parts.hard_tokens == 54
        fitted = enforce_hard_reserve(parts, hard_cap_tokens=44, policy="demote")
        assert [node.tier for node in fitted.nodes] == [Tier.HARD, Tier.LORE, Tier.HARD, Tier.HARD, Tier.LORE]
        assert (fitted.hard_tokens, fitted.soft_tokens, fitted.lore_tokens) == (44, 0, 14)
        assert fitted.demotions == (
            Demotion(
                position=1,
                start=6,
                tokens=10,
                excerpt="- abcdefgh",
                reason="list item without a rule, hard reserve of 44 tokens exceeded",
            ),
        )
        tighter = enforce_hard_reserve(parts, hard_cap_tokens=43, policy="demote")
        assert [demotion.position for demotion in tighter.demotions] == [1, 3]
        assert tighter.hard_tokens == 36

    def test_of_two_equally_long_items_the_later_goes_first(self) -> None:
        parts = partition(("list_item", "- aaa"), ("list_item", "- bbb"), ("list_item", "- ccc"))
        fitted = enforce_hard_reserve(parts, hard_cap_tokens=5, policy="demote")
        assert [demotion.position for demotion in fitted.demotions] == [2, 1]
        assert [node.text for node in fitted.hard] == ["- aaa"]

    def test_demotion_changes_the_tier_and_nothing_else(self) -> None:
        parts = partition(("list_item", "- aaa"), ("block_quote", "> q"))
        fitted = enforce_hard_reserve(parts, hard_cap_tokens=0, policy="demote")
        (before, quote), (after, same_quote) = parts.nodes, fitted.nodes
        assert (after.tier, after.text, after.start, after.end) == (
            Tier.LORE,
            before.text,
            before.start,
            before.end,
        )
        assert (after.position, after.tokens, after.reading) == (
            before.position,
            before.tokens,
            before.reading,
        )
        assert same_quote is quote
        assert fitted.soft_tokens == 3
        assert parts.nodes[0].tier is Tier.HARD

    def test_front_matter_and_rules_are_never_demoted(self) -> None:
        parts = partition(("front_matter", "a: bcdef"), ("list_item", "- must go"), ("list_item", "- xy"))
        with pytest.raises(HardReserveExceeded) as caught:
            enforce_hard_reserve(parts, hard_cap_tokens=16, policy="demote")
        assert (caught.value.hard_tokens, caught.value.hard_cap_tokens, caught.value.policy) == (
            17,
            16,
            "demote",
        )
        assert str(caught.value) == (
            "the hard rules that cannot be demoted cost 17 tokens, the hard reserve holds 16; "
            "shorten the list items, raise the budget or the hard fraction"
        )
        assert enforce_hard_reserve(parts, hard_cap_tokens=17, policy="demote").hard_tokens == 17

    def test_a_second_demotion_adds_to_the_report_of_the_first(self) -> None:
        parts = partition(("list_item", "- aaa"), ("list_item", "- bbbb"))
        once = enforce_hard_reserve(parts, hard_cap_tokens=6, policy="demote")
        twice = enforce_hard_reserve(once, hard_cap_tokens=1, policy="demote")
        assert [demotion.position for demotion in twice.demotions] == [1, 0]
        assert twice.lore_tokens == 11

    def test_the_excerpt_is_one_line_of_at_most_80_characters(self) -> None:
        parts = partition(("list_item", "- a\n  b" + "x" * 200))
        (demotion,) = enforce_hard_reserve(parts, hard_cap_tokens=0, policy="demote").demotions
        assert demotion.excerpt == "- a b" + "x" * 75
        assert len(demotion.excerpt) == 80

    def test_deep_indentation_does_not_empty_the_excerpt(self) -> None:
        parts = partition(("list_item", " " * 200 + "- " + "y" * 300))
        (demotion,) = enforce_hard_reserve(parts, hard_cap_tokens=0, policy="demote").demotions
        assert demotion.excerpt == "- " + "y" * 78

    def test_the_error_survives_a_process_boundary(self) -> None:
        error = pickle.loads(pickle.dumps(HardReserveExceeded(9, 3, "demote")))
        assert (error.hard_tokens, error.hard_cap_tokens, error.policy) == (9, 3, "demote")
        assert str(error) == str(HardReserveExceeded(9, 3, "demote"))

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(("list_item", "front_matter", "paragraph")), st.text("ab must", max_size=12)
            )
        ),
        st.integers(0, 60),
    )
    def test_demotion_fits_or_says_why_and_touches_only_items_without_a_rule(
        self, pairs: list[tuple[str, str]], cap: int
    ) -> None:
        parts = partition(*pairs)
        total = parts.hard_tokens + parts.soft_tokens + parts.lore_tokens
        floor = sum(n.tokens for n in parts.hard if n.kind == "front_matter" or n.reading.is_rule)
        if floor > cap:
            with pytest.raises(HardReserveExceeded) as caught:
                enforce_hard_reserve(parts, hard_cap_tokens=cap, policy="demote")
            assert caught.value.hard_tokens == floor
            return
        fitted = enforce_hard_reserve(parts, hard_cap_tokens=cap, policy="demote")
        assert fitted.hard_tokens == sum(node.tokens for node in fitted.hard) <= cap
        assert fitted.hard_tokens + fitted.soft_tokens + fitted.lore_tokens == total
        changed = [n.position for n, m in zip(parts.nodes, fitted.nodes, strict=True) if n.tier is not m.tier]
        assert sorted(d.position for d in fitted.demotions) == changed
        assert all(parts.nodes[p].kind == "list_item" and not parts.nodes[p].reading.is_rule for p in changed)
        tokens = [demotion.tokens for demotion in fitted.demotions]
        assert tokens == sorted(tokens, reverse=True)
        if tokens:
            assert fitted.hard_tokens + tokens[-1] > cap  # the last one was needed


class TestPartitionKey:
    def test_the_key_is_pinned_to_its_definition(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(authored, "RULES_VERSION", "1")
        # SHA-256 of "1", "chars" and "- a", each after its length as eight big-endian bytes.
        assert partition_key("- a", "chars") == (
            "7655030a8863951bc82a6265650744943a3580089f367e9117a0644bddbc75fc"
        )

    def test_the_rules_version_is_part_of_the_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        before = partition_key("- a", "chars")
        monkeypatch.setattr(authored, "RULES_VERSION", "next")
        assert partition_key("- a", "chars") != before

    @given(st.text(), st.text(), st.text(), st.text())
    def test_different_documents_or_tokenizers_have_different_keys(
        self, a: str, b: str, c: str, d: str
    ) -> None:
        assert (partition_key(a, b) == partition_key(c, d)) == ((a, b) == (c, d))

    def test_text_moved_between_document_and_tokenizer_changes_the_key(self) -> None:
        assert partition_key("bc", "a") != partition_key("c", "ab")


def test_a_file_read_as_notes_is_lore_alone_and_contradicts_nothing() -> None:
    texts = [("list_item", "- Use tabs in tests."), ("paragraph", "You must never use tabs in tests.")]
    blocks = [
        Block(kind=kind, start=40 * i, end=40 * i + len(text), text=text, heading_path=())
        for i, (kind, text) in enumerate(texts)
    ]
    rules = partition_blocks(blocks, count_tokens=len, tokenizer_id="letters")
    assert (rules.hard_tokens, rules.soft_tokens, rules.lore_tokens) == (20, 33, 0)
    assert rules.conflicts
    notes = read_as_notes(rules)
    assert {node.tier for node in notes.nodes} == {Tier.LORE}
    assert [node.text for node in notes.nodes] == [text for _, text in texts]
    assert (notes.hard_tokens, notes.soft_tokens, notes.lore_tokens) == (0, 0, 53)
    assert notes.conflicts == ()
