"""Technical spans: what counts as an identifier, what does not, and what it costs to look."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.text.technical.shapes import (
    classify_token,
    has_extension,
    is_bare_url,
    is_camel_case,
    is_dotted_name,
    is_hash_like,
    is_relative_path,
    is_snake_case,
    trim_punctuation,
)
from models.domain.text.technical.spans import (
    MAX_IDENTIFIER_CHARS,
    extract_identifiers,
    find_technical_spans,
    fold_identifier,
    split_camel_case,
)

MEGABYTE = 1_000_000

SHA1 = "9fceb02d0ae598e95dc970b74767f19372d61af8"
SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

SPANS = [
    # paths
    ("see /etc/nginx/nginx.conf please", "path", "/etc/nginx/nginx.conf"),
    ("look in /etc for it", "path", "/etc"),
    ("look in /tmp/ for it", "path", "/tmp/"),
    ("edit ~/.config/app.toml", "path", "~/.config/app.toml"),
    ("run ./run.sh now", "path", "./run.sh"),
    ("up in ../lib/x", "path", "../lib/x"),
    ("in src/app/main", "path", "src/app/main"),
    ("in docs/guide.md, line 3", "path", "docs/guide.md"),
    ("models/domain/gate/gating.py:42", "path", "models/domain/gate/gating.py"),
    ("open C:\\Program Files\\App\\app.exe and then go", "path", "C:\\Program Files\\App\\app.exe"),
    ("at C:/Users/ann/notes.txt today", "path", "C:/Users/ann/notes.txt"),
    ("on \\\\server\\share\\a.doc there", "path", "\\\\server\\share\\a.doc"),
    ("in src\\models\\x.py there", "path", "src\\models\\x.py"),
    ("файл /home/josé/документы/отчёт.txt", "path", "/home/josé/документы/отчёт.txt"),
    ("在文档/报告.txt", "path", "在文档/报告.txt"),
    ("见src/app.py", "path", "src/app.py"),
    ("文件在/usr/local/bin/x", "path", "/usr/local/bin/x"),
    ("@scope/package is new", "path", "@scope/package"),
    ("the package.json file", "path", "package.json"),
    ("the my-file.test.ts file", "path", "my-file.test.ts"),
    ("the report.pdf file", "path", "report.pdf"),
    ("the .env file", "path", ".env"),
    ("a Dockerfile here", "path", "Dockerfile"),
    # error codes
    ("error[E0308]: mismatched", "error_code", "E0308"),
    ("got TS2345 again", "error_code", "TS2345"),
    ("got ORA-00942 again", "error_code", "ORA-00942"),
    ("got HTTP 500 again", "error_code", "HTTP 500"),
    ("got HTTP/1.1 404 again", "error_code", "HTTP/1.1 404"),
    ("got HTTP status code 503 again", "error_code", "HTTP status code 503"),
    ("a 404 Not Found page", "error_code", "404 Not Found"),
    ("a 500 error page", "error_code", "500 error"),
    ("connect ECONNREFUSED there", "error_code", "ECONNREFUSED"),
    ("failed with 0x80070005.", "error_code", "0x80070005"),
    ("SQLSTATE 23505 raised", "error_code", "SQLSTATE 23505"),
    ("SQLSTATE[42S02] raised", "error_code", "SQLSTATE[42S02]"),
    ("patch CVE-2024-1234 now", "error_code", "CVE-2024-1234"),
    ("a NullPointerException here", "error_code", "NullPointerException"),
    ("java.lang.NullPointerException: x", "error_code", "java.lang.NullPointerException"),
    ("a DeprecationWarning here", "error_code", "DeprecationWarning"),
    ("exit code 137", "error_code", "exit code 137"),
    ("Error 1045 (28000)", "error_code", "Error 1045"),
    ("errno=13", "error_code", "errno=13"),
    ("ERR_MODULE_NOT_FOUND", "error_code", "ERR_MODULE_NOT_FOUND"),
    ("killed by SIGSEGV", "error_code", "SIGSEGV"),
    ("pod in CrashLoopBackOff", "error_code", "CrashLoopBackOff"),
    ("MSB3073 in build", "error_code", "MSB3073"),
    ("AADSTS50011 from login", "error_code", "AADSTS50011"),
    # git, hashes, ids
    ("reset to HEAD~3 now", "git_reference", "HEAD~3"),
    ("on origin/main now", "git_reference", "origin/main"),
    ("on feature/add-login now", "git_reference", "feature/add-login"),
    ("on refs/heads/dev now", "git_reference", "refs/heads/dev"),
    ("see PR #123 for it", "git_reference", "PR #123"),
    ("see issue 45 for it", "git_reference", "issue 45"),
    ("commit a1b2c3d did it", "git_hash", "a1b2c3d"),
    (f"commit {SHA1} did it", "git_hash", SHA1),
    (f"digest {SHA256} here", "hex_id", SHA256),
    ("digest sha256:e3b0c44298fc here", "hex_id", "sha256:e3b0c44298fc"),
    ("at 0x7ffe here", "hex_id", "0x7ffe"),
    ("id 550e8400-e29b-41d4-a716-446655440000 here", "uuid", "550e8400-e29b-41d4-a716-446655440000"),
    # addresses
    ("see https://example.org/a_(b)). Then", "url", "https://example.org/a_(b)"),
    ("访问https://a.com/x。", "url", "https://a.com/x"),
    ("see www.example.org/x, please", "url", "www.example.org/x"),
    ("see example.com/foo/bar there", "url", "example.com/foo/bar"),
    ("postgresql://u@h:5432/db", "url", "postgresql://u@h:5432/db"),
    ("call GET /v1/users/{id} twice", "endpoint", "GET /v1/users/{id}"),
    ("on localhost:8080/health now", "endpoint", "localhost:8080/health"),
    ("on 127.0.0.1:5432 now", "endpoint", "127.0.0.1:5432"),
    ("write to ann.lee+x@example.org.", "mail", "ann.lee+x@example.org"),
    # names
    ("call getUserName soon", "name", "getUserName"),
    ("die größeBerechnen Methode", "name", "größeBerechnen"),
    ("set user_id soon", "name", "user_id"),
    ("set MAX_RETRIES soon", "name", "MAX_RETRIES"),
    ("in __init__ there", "name", "__init__"),
    ("import models.domain.gate.gating now", "name", "models.domain.gate.gating"),
    ("a std::vector here", "name", "std::vector"),
    ("use Node.js here", "name", "Node.js"),
    ("函数get_user_name返回", "name", "get_user_name"),
    ("call foo() now", "function", "foo"),
    ("call doThing(x) now", "function", "doThing"),
    ("pass --no-verify now", "flag", "--no-verify"),
    # numbers
    ("it took 250ms today", "quantity", "250ms"),
    ("it took 3.5 GB today", "quantity", "3.5 GB"),
    ("it cost $1,200 today", "quantity", "$1,200"),
    ("it cost €30k today", "quantity", "€30k"),
    ("up 45% today", "quantity", "45%"),
    ("with 1/2 cup of it", "quantity", "1/2 cup"),
    ("ran 1,234,567.5 km today", "quantity", "1,234,567.5 km"),
    ("upgrade to v1.2.3 today", "version", "v1.2.3"),
    ("upgrade to 1.2.3-rc.1 today", "version", "1.2.3-rc.1"),
    ("upgrade to Python 3.11 today", "version", "Python 3.11"),
    ("host 192.168.1.1 is down", "version", "192.168.1.1"),
    ("ticket ABC-123 is open", "code", "ABC-123"),
    ("the A380 plane", "code", "A380"),
]

NOTHING = [
    "and/or he/she yes/no/maybe",
    "open 24/7, a 1/2 and /s",
    "e.g. this, i.e. that, at 5 p.m. in the U.S.A. with a Ph.D",
    "item(s) and run(x)",
    "the facade was deadbeef and 1234567",
    "</div> // comment",
    "an Error, a Warning, an Exception",
    "my zip code 90210",
    "_emphasis_ and NASA and London",
    "feature/bug",
    "three-quarters of well-known state-of-the-art words",
    "https://",
    "a@b",
    "",
]


@pytest.mark.parametrize(("text", "kind", "found"), SPANS)
def test_an_identifier_is_found_whole_and_named(text: str, kind: str, found: str) -> None:
    assert (kind, found) in [(span.kind, span.text) for span in find_technical_spans(text)]
    assert found in extract_identifiers(text)


@pytest.mark.parametrize("text", NOTHING)
def test_ordinary_words_are_no_identifiers(text: str) -> None:
    assert extract_identifiers(text) == ()


BOUNDED = {"error_code", "git_reference", "git_hash", "hex_id", "uuid", "version", "quantity", "code"}


@pytest.mark.parametrize(("kind", "found"), [(kind, found) for _, kind, found in SPANS if kind in BOUNDED])
def test_a_code_glued_to_other_letters_is_not_that_code(kind: str, found: str) -> None:
    if found[0].isalnum():
        assert (kind, found) not in [(span.kind, span.text) for span in find_technical_spans("x" + found)]
    # A code may end in letters ("A380x"), and an amount of money stays one ("$20ish").
    if found[-1].isalnum() and kind != "code" and not found.startswith("$"):
        assert (kind, found) not in [(span.kind, span.text) for span in find_technical_spans(found + "x")]


@pytest.mark.parametrize("kind", ["uuid", "error_code", "hex_id", "git_hash", "version", "code"])
def test_a_hyphen_before_makes_it_part_of_something_longer(kind: str) -> None:
    for found in [
        found for _, place, found in SPANS if place == kind and found[0].isalnum() and "Exc" not in found
    ]:
        spans = [(span.kind, span.text) for span in find_technical_spans("x-" + found)]
        assert (kind, found) not in spans or found.endswith("Warning")


@pytest.mark.parametrize(
    ("digits", "kind"),
    [
        (6, None),
        (7, "git_hash"),
        (12, "git_hash"),
        (13, "hex_id"),
        (39, "hex_id"),
        (40, "git_hash"),
        (41, "hex_id"),
    ],
)
def test_git_prints_seven_to_twelve_digits_or_all_forty(digits: int, kind: str | None) -> None:
    spans = find_technical_spans("at " + "a1" * (digits // 2) + "b" * (digits % 2))
    assert [span.kind for span in spans] == ([kind] if kind else [])


def test_an_address_takes_its_whole_local_part() -> None:
    assert extract_identifiers("to .ann.lee@example.org") == (".ann.lee@example.org",)
    assert "lee@example.org" not in extract_identifiers("ann-lee@example.org")


def test_identifiers_come_once_in_order_of_first_appearance() -> None:
    assert extract_identifiers("b_b then a_a then b_b") == ("b_b", "a_a")


def test_a_longer_claim_at_the_same_place_wins() -> None:
    spans = find_technical_spans("https://example.org/src/app.py?v=1.2.3")
    assert [(span.kind, span.text) for span in spans] == [("url", "https://example.org/src/app.py?v=1.2.3")]


def test_of_equal_claims_the_more_specific_kind_wins() -> None:
    # ERR_TIMED_OUT is a snake_case name as well as an error code.
    assert [span.kind for span in find_technical_spans("ERR_TIMED_OUT")] == ["error_code"]


def test_neighbouring_spans_are_both_kept() -> None:
    assert extract_identifiers("a_a-b_b") == ("a_a", "b_b")


def test_an_overlong_run_is_payload_and_not_an_identifier() -> None:
    longest = "a_" + "b" * (MAX_IDENTIFIER_CHARS - 2)
    assert extract_identifiers(longest) == (longest,)
    assert extract_identifiers(longest + "b") == ()
    assert extract_identifiers("src/" + "b/" * MAX_IDENTIFIER_CHARS + "c.py") == ("c.py",)


@given(st.text(max_size=200))
def test_spans_never_overlap_and_quote_the_text(text: str) -> None:
    reached = 0
    for span in find_technical_spans(text):
        assert reached <= span.start < span.end <= len(text)
        assert text[span.start : span.end] == span.text
        reached = span.end


@given(st.text(alphabet="ab1./\\:_-@#~ A()'\"`", max_size=60))
def test_dense_punctuation_never_breaks_the_finder(text: str) -> None:
    assert all(identifier.strip() for identifier in extract_identifiers(text))


@pytest.mark.parametrize(
    ("identifier", "folded"),
    [
        ("getUserName", ("getusername", "get", "user", "name")),
        ("HTTPServer", ("httpserver", "http", "server")),
        ("snake_case_name", ("snake_case_name", "snake", "case", "name")),
        ("kebab-case", ("kebab-case", "kebab", "case")),
        ("os.path.join", ("os.path.join", "os", "path", "join")),
        ("std::vector", ("std::vector", "std", "vector")),
        ("src/app.py", ("src/app.py", "src", "app.py", "app", "py")),
        (
            "models/domain/gatePolicy.py",
            (
                "models/domain/gatepolicy.py",
                "models",
                "domain",
                "gatepolicy.py",
                "gatepolicy",
                "py",
                "gate",
                "policy",
            ),
        ),
        ("C:\\Temp\\x.log", ("c:\\temp\\x.log", "temp", "x.log", "log")),
        ("ORA-00942", ("ora-00942", "ora", "00942")),
        ("HTTP 500", ("http 500", "http", "500")),
        ("größeBerechnen", ("größeberechnen", "größe", "berechnen")),
        ("E0308", ("e0308",)),
        ("a1b2c3d4", ("a1b2c3d4",)),
        ("550E8400-e29b-41d4-a716-446655440000", ("550e8400-e29b-41d4-a716-446655440000",)),
        ("v1.2.3-rc.1", ("v1.2.3-rc.1",)),
        ("Python 3.11", ("python 3.11",)),
        ("3.5 GB", ("3.5 gb", "3.5gb")),
        ("250ms", ("250ms",)),
        ("  padded_name ", ("padded_name", "padded", "name")),
        ("", ()),
        ("   ", ()),
    ],
)
def test_an_identifier_folds_to_its_whole_and_its_parts(identifier: str, folded: tuple[str, ...]) -> None:
    assert fold_identifier(identifier) == folded


def test_an_overlong_run_folds_to_itself_alone() -> None:
    exact = "A_" * (MAX_IDENTIFIER_CHARS // 2)
    assert len(fold_identifier(exact)) > 0
    assert fold_identifier("Ab_" * MAX_IDENTIFIER_CHARS) == ("ab_" * MAX_IDENTIFIER_CHARS,)


@given(st.text(max_size=80))
def test_folding_is_lower_case_distinct_and_starts_with_the_whole(text: str) -> None:
    folded = fold_identifier(text)
    assert len(set(folded)) == len(folded)
    assert all(part == part.lower() and part for part in folded)
    if text.strip():
        assert folded[0] == text.strip().lower()


@given(st.sampled_from([found for _, _, found in SPANS]))
def test_a_query_in_small_letters_folds_to_the_same_whole(identifier: str) -> None:
    assert fold_identifier(identifier)[0] == fold_identifier(identifier.lower())[0]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("", ()),
        ("a", ("a",)),
        ("A", ("A",)),
        ("aB", ("a", "B")),
        ("Ab", ("Ab",)),
        ("AB", ("AB",)),
        ("ABc", ("A", "Bc")),
        ("HTTPServer", ("HTTP", "Server")),
        ("v2Api", ("v2Api",)),
        ("parseHTTPResponse2", ("parse", "HTTP", "Response2")),
        ("utf8Decoder", ("utf8Decoder",)),
        ("userID", ("user", "ID")),
    ],
)
def test_camel_case_splits_at_its_humps(word: str, parts: tuple[str, ...]) -> None:
    assert split_camel_case(word) == parts


@given(st.text(max_size=40))
def test_humps_add_up_to_the_word(word: str) -> None:
    assert "".join(split_camel_case(word)) == word


@pytest.mark.parametrize(
    ("text", "trimmed"),
    [
        ("abc.", "abc"),
        ("abc).", "abc"),
        ("a(b)", "a(b)"),
        ("a(b)).", "a(b)"),
        ("a[0]", "a[0]"),
        ("a]}", "a"),
        ("a{b}", "a{b}"),
        ("abc…*'\"!?;:,", "abc"),
        ("...", ""),
        ("", ""),
    ],
)
def test_sentence_punctuation_is_trimmed_and_balanced_brackets_stay(text: str, trimmed: str) -> None:
    assert trim_punctuation(text) == trimmed


def test_a_name_may_begin_and_end_with_any_letter_and_hold_a_digit() -> None:
    for letter in "abcxyzABCXYZ":
        assert is_snake_case(f"{letter}_axis")
        assert is_snake_case(f"axis_{letter}")
        assert is_dotted_name(f"{letter}1.module")
        assert not is_dotted_name(f"1{letter}.module")


def test_no_letter_or_digit_is_punctuation() -> None:
    for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789éß中":
        assert trim_punctuation(f"a.{letter}") == f"a.{letter}"


def test_the_words_that_decide_a_kind() -> None:
    assert has_extension("a.py")
    assert has_extension("A.PY")
    assert not has_extension("py")
    assert has_extension("a.pdf")
    assert not has_extension("a.pdf", documents=False)
    assert has_extension("a.py", documents=False)
    assert not has_extension("Vue.js")
    assert has_extension("main.js")
    assert is_relative_path("src/x")
    assert is_relative_path("@a/b")
    assert not is_relative_path("@/b")
    assert not is_relative_path("a/b")
    assert not is_relative_path("src")
    assert not is_relative_path("guide.md")
    assert not is_relative_path("")
    assert is_bare_url("example.ORG/x")
    assert not is_bare_url("example.org")
    assert not is_bare_url("example/x")
    assert not is_bare_url("example.foo/x")
    assert not is_camel_case("")
    assert is_dotted_name("ab.cde")
    assert not is_dotted_name("ab.cd")
    assert not is_dotted_name("abc")
    assert not is_dotted_name("abc.1")
    assert is_dotted_name("abc._x")
    assert not is_snake_case("__")
    assert not is_snake_case("__a")
    assert is_hash_like("a1")
    assert not is_hash_like("ab")
    assert not is_hash_like("12")
    assert classify_token("word", "()") == "function"
    assert classify_token("word", "(x") is None
    assert classify_token("Error", "") is None
    assert classify_token("error", "") is None
    assert classify_token("typeError", "") == "name"
    assert classify_token("7up", "()") is None


@pytest.mark.parametrize("seed", ["C:\\a ", "a@b.", ")"])
def test_the_whole_search_is_linear_on_a_hostile_text(seed: str) -> None:
    find_technical_spans(seed * (400_000 // len(seed)))
    assert trim_punctuation(")" * MEGABYTE) == ""
