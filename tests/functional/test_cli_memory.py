"""Claims about the commands a person types: resumable, idempotent, clear about what is wrong."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def write_lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def conversation(tmp_path: Path, tenant: Any) -> Path:
    records = [
        {
            "session_id": f"{tenant.name}-{n % 3}",
            "role": "user",
            "content": f"line {n} says yes",
            "user_id": "ann",
        }
        for n in range(500)
    ]
    return write_lines(tmp_path / "turns.jsonl", records)


def count(tenant: Any) -> int:
    found: int = tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant")
    return found


def test_ingest_twice_keeps_everything_once(tenant: Any, conversation: Path) -> None:
    first = tenant.read("ingest", str(conversation))
    assert first == {
        "lines": 500,
        "skipped": 0,
        "accepted": 500,
        "duplicates": 0,
        "erased": 0,
        "differing": [],
    }
    again = tenant.read("ingest", str(conversation))
    assert (again["skipped"], again["accepted"]) == (500, 0)
    forced = tenant.read("ingest", str(conversation), "--restart")
    assert (forced["accepted"], forced["duplicates"]) == (0, 500)
    assert count(tenant) == 500


def test_a_file_that_grew_is_sent_from_where_it_grew(tenant: Any, conversation: Path) -> None:
    tenant.run("ingest", str(conversation))
    with conversation.open("a") as file:
        file.write(json.dumps({"session_id": "new", "role": "user", "content": "one more"}) + "\n")
    grown = tenant.read("ingest", str(conversation))
    assert (grown["skipped"], grown["accepted"]) == (500, 1)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 3 is not JSON"),
        ("[]", "line 3 is not a JSON object"),
        ('{"role": "user", "content": "x"}', "line 3 has no session_id"),
        ('{"session_id": "s", "role": "robot", "content": "x"}', "line 3: role"),
        ('{"session_id": "s", "role": "user", "content": "x", "color": 1}', "unknown fields: color"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_sent(tenant: Any, tmp_path: Path, line: str, words: str) -> None:
    good = '{"session_id": "s", "role": "user", "content": "fine"}\n'
    file = tmp_path / "bad.jsonl"
    file.write_text(good * 2 + line + "\n" + good)
    result = tenant.run("ingest", str(file), check=False)
    assert result.returncode == 2
    assert words in result.stderr
    assert "what to do:" in result.stderr
    assert count(tenant) == 0


def test_every_bad_line_is_named_at_once(tenant: Any, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text('{"session_id": "s", "role": "user", "content": "fine"}\n{\n[]\n' + "{\n" * 30)
    result = tenant.run("ingest", str(file), check=False)
    assert result.returncode == 2
    assert "line 2 is not JSON" in result.stderr and "line 3 is not a JSON object" in result.stderr
    assert "and 12 more lines" in result.stderr


def test_what_an_earlier_run_sent_is_believed_only_if_the_server_still_has_it(
    tenant: Any, new_tenant: Callable[[], Any], conversation: Path
) -> None:
    tenant.run("ingest", str(conversation))
    away = tenant.run("ingest", str(conversation), check=False, LONGTAIL_API_URL="http://127.0.0.1:9")
    assert away.returncode == 2 and "no Longtail answers" in away.stderr
    tenant.run("erase", "ann", "--yes")
    again = tenant.read("ingest", str(conversation))
    assert (again["skipped"], again["accepted"], again["erased"]) == (0, 0, 500), (
        "erased stays erased, and is said"
    )
    other = new_tenant()
    elsewhere = other.read("ingest", str(conversation))
    assert (elsewhere["skipped"], elsewhere["accepted"]) == (0, 500), "another token opens another memory"


def test_an_id_that_is_known_with_other_words_is_listed_and_the_exit_code_says_so(
    tenant: Any, tmp_path: Path
) -> None:
    line = {"session_id": "s", "role": "user", "content": "the first words", "id": "m1"}
    file = write_lines(tmp_path / "turns.jsonl", [line])
    tenant.run("ingest", str(file))
    write_lines(file, [{**line, "content": "other words, and more"}, {**line, "id": "m2"}])
    for _ in range(2):  # said until it is mended
        refused = tenant.run("ingest", str(file), check=False)
        assert refused.returncode == 1
        assert "session s, id m1" in refused.stderr and "m2" not in refused.stderr
    assert json.loads(tenant.run("ingest", str(file), "--json", check=False).stdout)["differing"] == [
        {"session_id": "s", "id": "m1"}
    ]


def test_ingest_takes_standard_input_and_a_byte_order_mark(tenant: Any) -> None:
    line = '\ufeff{"session_id": "s", "role": "user", "content": "from a pipe"}\n'
    done = subprocess.run(
        [sys.executable, "-m", "api", "ingest", "-", "--json"],
        input=line.encode(),
        capture_output=True,
        check=True,
        env={**tenant.stack.env, "LONGTAIL_TOKEN": tenant.token},
    )
    assert json.loads(done.stdout)["accepted"] == 1


def test_a_server_that_never_answered_is_looked_for_only_a_moment(tenant: Any) -> None:
    calls: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up() -> None:
            with contextlib.suppress(OSError):
                while True:
                    listening.accept()[0].close()
                    calls.append(1)

        threading.Thread(target=hang_up, daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        away = tenant.run("search", "anything", check=False, LONGTAIL_API_URL=url)
        listening.shutdown(socket.SHUT_RDWR)
    assert away.returncode == 2 and "longtail up" in away.stderr
    assert 1 <= len(calls) <= 5, "half a minute of attempts were some twelve"


def test_without_a_port_and_without_a_stack_nobody_elses_service_is_asked(tmp_path: Path) -> None:
    environment = {**os.environ, "LONGTAIL_HOME": str(tmp_path), "LONGTAIL_PORT": "0"}
    environment.pop("LONGTAIL_API_URL", None)
    done = subprocess.run(
        [sys.executable, "-m", "api", "search", "x"], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 2 and "no Longtail runs from this home" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ingest", "."), "is a folder"),
        (("docs", "check", "."), "is a folder"),
        (("docs", "check", sys.executable), "is not UTF-8"),
        (("export", "-o", "/nonexistent/x"), "there is no folder /nonexistent"),
        (("export", "-o", "."), "is a folder"),
        (("secrets", "/dev/null/secrets"), "/dev/null: File exists"),
    ],
)
def test_a_path_that_does_not_fit_is_explained(tenant: Any, arguments: tuple[str, ...], words: str) -> None:
    result = tenant.run(*arguments, check=False)
    assert result.returncode == 2
    assert words in result.stderr and "what to do:" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("search", "", "--user", "ann"), "query is empty"),
        (("grep", ""), "pattern is empty"),
        (("remember", "", "--user", "ann"), "the text is empty"),
        (("explain", "nonsense"), "'nonsense' is no id"),
        (("explain", "00000000-0000-7000-8000-000000000000"), "no receipt"),
        (("docs", "load", "/dev/null"), "the document is empty"),
        (("ingest", "/dev/null/none"), "cannot read /dev/null/none"),
    ],
)
def test_what_is_wrong_with_a_word_is_said_without_http(
    tenant: Any, arguments: tuple[str, ...], words: str
) -> None:
    result = tenant.run(*arguments, check=False)
    assert result.returncode == 2
    assert words in result.stderr and "what to do:" in result.stderr
    foreign = ("/docs", "explain=true", "item", "UUID", "field", "as the body", "empty turns", "validation")
    assert not [one for one in foreign if one in result.stderr]


def test_a_session_of_another_is_explained_in_words_that_a_command_takes(tenant: Any) -> None:
    tenant.say("s", "I moved to Lisbon.", user_id="ann")
    result = tenant.run("assemble", "--session", "s", "--user", "bob", "--query", "x", check=False)
    assert result.returncode == 2
    assert "name the identity that opened it, or choose another session" in result.stderr
    assert "shared" not in result.stderr


@pytest.mark.parametrize("answer", ["200 OK", "404 Not Found", "501 Unsupported method"])
def test_a_service_that_is_no_longtail_is_named(tenant: Any, answer: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    caller = listening.accept()[0]
                    caller.recv(65536)
                    caller.sendall(
                        f"HTTP/1.1 {answer}\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>".encode()
                    )
                    caller.close()

        threading.Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        result = tenant.run("sessions", "list", check=False, LONGTAIL_API_URL=url)
        listening.shutdown(socket.SHUT_RDWR)
    assert result.returncode == 2
    assert f"what answers at {url} is no Longtail" in result.stderr and "what to do:" in result.stderr


def test_a_missing_file_is_an_error_with_a_remedy(tenant: Any) -> None:
    result = tenant.run("ingest", "/nowhere.jsonl", check=False)
    assert result.returncode == 2
    assert "there is no file" in result.stderr


def test_assemble_and_search_print_json_for_scripts(tenant: Any) -> None:
    tenant.say("s", "The lighthouse key is under the green stone.", user_id="ann")
    tenant.settle()
    answer = json.loads(
        tenant.run(
            "assemble", "--session", "s", "--user", "ann", "--query", "key?", "--budget", "500", "--json"
        ).stdout
    )
    assert "green stone" in answer["text"]
    assert answer["budget"]["used"] <= 500
    found = tenant.read("search", "lighthouse key", "--user", "ann")
    assert "green stone" in found["results"][0]["text"]
    tenant.say("t", "Another lighthouse has a red door.", user_id="ann")
    tenant.settle()
    grouped = tenant.run("search", "lighthouse key", "--user", "ann", "--by-session", "--json").stdout
    assert [hit["session_id"] for hit in json.loads(grouped)["results"]] == ["s", "t"]


def test_a_person_sees_the_prompt_and_a_bar_for_each_tier(tenant: Any) -> None:
    tenant.say("s", "The lighthouse key is under the green stone.", user_id="ann")
    shown = tenant.run(
        "assemble", "--session", "s", "--user", "ann", "--query", "key?", "--budget", "500"
    ).stdout
    assert "green stone" in shown
    assert all(tier in shown for tier in ("hard", "soft", "tail", "guidance", "recall", "used"))


def test_a_prompt_about_nobody_says_how_to_ask_for_somebodys(tenant: Any) -> None:
    tenant.client.put_document("a.md", "- Never delete the archive.")
    asked = ("assemble", "--session", "new", "--query", "key?")
    assert "session 'new' has said nothing yet; --user NAME asks" in " ".join(
        tenant.run(*asked).stdout.split()
    )
    assert "said nothing yet" not in tenant.run(*asked, "--user", "ann").stdout
    tenant.say("new", "The key is under the stone.")
    assert "said nothing yet" not in tenant.run(*asked).stdout


def test_the_demo_plays_the_sample_and_shows_every_tier(tenant: Any) -> None:
    shown = tenant.run("demo").stdout
    assert "30 days of readings" in shown
    assert "show me diffs before you commit" in shown
    assert "Never push to the `release` branch" in shown
    assert tenant.client.call("GET", "/v1/namespaces")["namespaces"] == [], "the sample is nobody's memory"
    assert tenant.client.list_documents()["documents"] == []


def test_a_wrong_budget_is_refused_by_the_name_it_was_given_under(tenant: Any) -> None:
    result = tenant.run("assemble", "--session", "s", "--query", "x", "--budget", "0", check=False)
    assert result.returncode == 2
    assert "'--budget'" in result.stderr


def test_a_file_without_turns_says_so(tenant: Any) -> None:
    env = {**tenant.stack.env, "LONGTAIL_TOKEN": tenant.token}
    done = subprocess.run(
        [sys.executable, "-m", "api", "ingest", "-"], input=b"", capture_output=True, check=True, env=env
    )
    assert b"standard input holds no turns" in done.stdout


def test_the_hook_path_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['longtail', 'hook']; import api; "
        "heavy = {'typer', 'rich', 'pydantic', 'sqlalchemy', 'celery', 'numpy', 'httpx', 'fastapi'} & set(sys.modules); "
        "sys.exit(1 if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
