"""Claims about what is known while PostgreSQL is away: by other processes too, bounded, private, and gone when dropped."""

from pathlib import Path
from uuid import UUID, uuid4

from api.outage.last_known import MOST_BINDINGS, MOST_BYTES, MOST_CHARS, LastKnown
from models.domain.rules.tiers import Tier
from models.store.documents import Rule
from models.store.tenancy.tokens import Caller

ONE, OTHER = uuid4(), uuid4()


def rule(body: str, *, binding: str = "tenant", tier: Tier = Tier.HARD) -> Rule:
    return Rule(
        id=uuid4(),
        tier=tier,
        kind="list_item",
        body=body,
        heading_path=("Rules",),
        document="a.md",
        binding=binding,
    )


def keep(known: LastKnown, tenant: UUID, *rules: Rule, bindings: tuple[str, ...] = ("tenant",)) -> None:
    known.keep(tenant, bindings, rules, changes=known.changes)


def texts(known: LastKnown, tenant: UUID, *bindings: str) -> list[str]:
    return [one.body for one in known.recall(tenant, bindings)]


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.rules.json"))


def test_another_process_knows_the_rules_of_each_tenant_and_binding(tmp_path: Path) -> None:
    mine, hers = rule("- Never shout."), rule("- Always sing.", binding="user:ann")
    keep(LastKnown(tmp_path), ONE, mine, hers, bindings=("tenant", "user:ann"))
    later = LastKnown(tmp_path)
    assert later.recall(ONE, ["tenant", "user:ann"]) == [mine, hers], "whole, in the order of the bindings"
    assert later.recall(ONE, ["tenant", "user:bob"]) == [mine], "the tenant's hold for somebody new too"
    assert later.recall(OTHER, ["tenant", "user:ann"]) == []


def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "last-known"
    keep(LastKnown(folder), ONE, rule("- Never shout."))
    assert folder.stat().st_mode & 0o077 == 0
    assert [file.stat().st_mode & 0o777 for file in files(folder)] == [0o600]


def test_what_was_dropped_is_nowhere_until_it_is_read_again(tmp_path: Path) -> None:
    known = LastKnown(tmp_path)
    keep(known, ONE, rule("- Never shout."))
    keep(known, OTHER, rule("- Never sing."))
    known.drop(ONE, ["tenant"])
    assert texts(known, ONE, "tenant") == texts(LastKnown(tmp_path), ONE, "tenant") == []
    assert texts(LastKnown(tmp_path), OTHER, "tenant") == ["- Never sing."]
    assert "shout" not in "".join(file.read_text() for file in tmp_path.iterdir())
    assert known.bindings() == {ONE: ["tenant"], OTHER: ["tenant"]}, "it is asked for again"


def test_rules_that_were_read_before_something_was_dropped_are_not_kept(tmp_path: Path) -> None:
    known = LastKnown(tmp_path)
    changes = known.changes
    known.drop(ONE, ["tenant"])
    known.keep(ONE, ["tenant"], [rule("- It was erased meanwhile.")], changes=changes)
    assert texts(known, ONE, "tenant") == []
    assert files(tmp_path) == []


def test_a_binding_without_rules_leaves_no_file(tmp_path: Path) -> None:
    known = LastKnown(tmp_path)
    keep(known, ONE, rule("- Never shout."))
    keep(known, ONE)
    assert texts(known, ONE, "tenant") == []
    assert files(tmp_path) == []


def test_bindings_are_bounded_and_the_one_used_longest_ago_goes_first(tmp_path: Path) -> None:
    known = LastKnown(tmp_path)
    for number in range(MOST_BINDINGS + 1):
        whose = f"user:{number}"
        keep(known, ONE, rule(f"- Rule {number}.", binding=whose), bindings=(whose,))
        if number == 1:
            first = rule("- Rule 0 again.", binding="user:0")
            keep(known, ONE, first, bindings=("user:0",))
    assert len(files(tmp_path)) == MOST_BINDINGS
    assert texts(known, ONE, "user:0", "user:1") == ["- Rule 0 again."]


def test_hard_rules_are_kept_whole_and_soft_ones_as_far_as_there_is_room(tmp_path: Path) -> None:
    hard = [rule("- " + "h" * MOST_BYTES), rule("- Never shout.")]
    soft = [rule("s" * 100, tier=Tier.SOFT)]
    keep(LastKnown(tmp_path), ONE, soft[0], *hard)
    assert LastKnown(tmp_path).recall(ONE, ["tenant"]) == hard


def test_a_file_that_cannot_be_read_costs_only_itself(tmp_path: Path) -> None:
    keep(LastKnown(tmp_path), ONE, rule("- Never shout."))
    (tmp_path / "torn.rules.json").write_text('{"tenant_id": "')
    (tmp_path / "odd.rules.json").write_text('{"tenant_id": 1, "binding": "tenant", "rules": [[]]}')
    assert texts(LastKnown(tmp_path), ONE, "tenant") == ["- Never shout."]


def test_a_folder_that_takes_no_files_costs_only_the_next_process(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("in the way")
    known = LastKnown(tmp_path / "folder")
    keep(known, ONE, rule("- Never shout."))
    assert texts(known, ONE, "tenant") == ["- Never shout."]


def test_whose_this_machines_token_is_is_known_by_its_digest_alone(tmp_path: Path) -> None:
    bound = Caller(
        token_id=uuid4(), tenant_id=ONE, scopes=frozenset({"read"}), namespaces=frozenset({"ann"}), marker="m"
    )
    LastKnown(tmp_path).keep_caller(b"digest", bound)
    known = LastKnown(tmp_path)
    assert known.recall_caller(b"digest") == bound
    assert known.recall_caller(b"another") is None
    assert (tmp_path / "caller.json").stat().st_mode & 0o777 == 0o600
    known.drop_caller(b"another")
    assert known.recall_caller(b"digest") == bound
    known.drop_caller(b"digest")
    assert known.recall_caller(b"digest") is None


def test_long_rules_of_many_users_stay_within_a_bound_and_the_newest_are_there(tmp_path: Path) -> None:
    known = LastKnown(tmp_path)
    for number in range(80):
        user = f"user:{number}"
        keep(known, ONE, rule("x" * 256 * 1024, binding=user), bindings=(user,))
    kept = sum(len(text) for number in range(80) for text in texts(known, ONE, f"user:{number}"))
    assert MOST_CHARS // 2 <= kept <= MOST_CHARS
    assert texts(known, ONE, "user:79") and not texts(known, ONE, "user:0")
