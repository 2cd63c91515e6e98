"""A real stack with weeks of talk in it, and a real Chromium that looks at it."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conversation import INJECTED, RULES, WISHES, make_turns
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright
from sqlalchemy import text

from models.store.engine import plain_transaction
from models.store.tenancy.tokens import ensure_token

ROOT = Path(__file__).parents[2]
SECRET = "quokka"  # said by Bob alone
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run", "--force-color-profile=srgb"),
)


MOST_PIXELS = 1150  # of the height of a picture: what lies below is more of the same
PATIENCE_MS = 120_000  # a busy machine ends no test
expect.set_options(timeout=PATIENCE_MS)


@dataclass
class Place:
    """Ilse's weeks of work, Bob beside her, and their tokens."""

    tenant: Any
    url: str
    bob: str
    reader: str

    def address(self, path: str = "") -> str:
        return f"{self.url}/inspector{path}"


@pytest.fixture(scope="session")
def place(stack: Any, owner: Any, tenant_on: Callable[..., Any]) -> Iterator[Place]:
    tenant = tenant_on(stack, owner)
    yield fill(tenant, stack.owner_url)
    tenant.client.__exit__()


def fill(tenant: Any, owner_url: str) -> Place:
    """Rules, a long session that is compacted, wishes, an attack, and somebody else."""
    client = tenant.client
    client.put_document("AGENTS.md", RULES)
    client.put_document("ilse.md", "- Never mention Ilse's holidays to anybody.\n", user_id="ilse")
    client.post_turns("harbour", make_turns(170), user_id="ilse")
    turns = [{"role": "user", "content": words} for words in (*WISHES, INJECTED)]
    client.post_turns("inbox", turns, user_id="ilse")
    tenant.settle()
    client.compact("harbour", force=True)
    said = [
        f"My {SECRET} is called Pip, and I keep it in Lisbon.",
        f"From now on, use the word {SECRET} in your replies.",
    ]
    client.post_turns("bob-home", [{"role": "user", "content": words} for words in said], user_id="bob")
    client.put_document("bob.md", f"- Always feed the {SECRET}.\n", user_id="bob")
    tenant.settle()
    for query in ("What did we decide about Brest?", "Which ports crash?", "What is open for Dover?"):
        client.assemble(session_id="harbour", query=query, budget_tokens=1500, explain=True)
    tokens = {"bob": {"namespaces": ["bob"]}, "reader": {"scopes": ("read",)}}
    for name, rights in tokens.items():
        ensure_token(owner_url, tenant=tenant.name, token=f"lt_{name}_{tenant.name}", **rights)
    _spread_over_days(tenant)
    return Place(
        tenant=tenant, url=client.url, bob=f"lt_bob_{tenant.name}", reader=f"lt_reader_{tenant.name}"
    )


def _spread_over_days(tenant: Any) -> None:
    """As if it had come in over two weeks: the charts of one day would show one column."""
    with plain_transaction(tenant.owner) as connection:
        for table, moments in (("work", "accepted_at updated_at"), ("gate_decisions", "decided_at")):
            key = "item_id" if table == "work" else "turn_id"
            sets = ", ".join(f"{one} = {one} - age" for one in moments.split())
            connection.execute(
                text(
                    f"UPDATE longtail.{table} SET {sets} FROM (SELECT id, make_interval(days => "
                    "(13 - least(position * 14 / 170, 13))::integer) AS age FROM longtail.turns "
                    "WHERE tenant_id = :tenant AND session_id = 'harbour') AS said "
                    f"WHERE said.id = {table}.{key}"
                ),
                {"tenant": tenant.id},
            )


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert path, "there is no Chromium; 'make test-browser' says how to get one"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield running
        running.close()


@dataclass
class Visit:
    """A browser window of its own, and everything its console complained about."""

    page: Page
    place: Place
    complaints: list[str]

    def log_in(self, token: str | None = None) -> Page:
        self.page.goto(self.place.address("/login"))
        self.page.get_by_label("Token").fill(token or self.place.tenant.token)
        self.page.get_by_role("button", name="Log in").click()
        self.page.wait_for_url(self.place.address("**"))
        return self.page


@pytest.fixture
def visit(browser: Browser, place: Place) -> Iterator[Visit]:
    """Logs nothing, remembers nothing; a complaint of the browser fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(PATIENCE_MS)
    made = _watch(context, place)
    yield made
    context.close()
    assert made.complaints == []


def _watch(context: BrowserContext, place: Place) -> Visit:
    complaints: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complaints.append(f"{message.text} at {message.location}")

    page = context.new_page()
    page.on("console", on_console)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: _stays_here(request.url, place, complaints))
    return Visit(page=page, place=place, complaints=complaints)


def _stays_here(url: str, place: Place, complaints: list[str]) -> None:
    if not url.startswith(place.url):
        complaints.append(f"the page asked for {url}")


@pytest.fixture
def shoot(tmp_path: Path) -> Callable[[Page, str], None]:
    """Keeps a picture of the page: for the documentation where that is asked for, else beside the test."""
    wanted = os.environ.get("LONGTAIL_TEST_SCREENSHOTS", "")
    folder = ROOT / "docs" / "inspector" if wanted == "docs" else Path(wanted) if wanted else tmp_path
    folder.mkdir(parents=True, exist_ok=True)

    def take(page: Page, name: str) -> None:
        raw = tmp_path / f"{name}.raw.png"
        page.screenshot(path=raw, full_page=True, clip=None)
        with Image.open(raw) as picture:
            top = picture.convert("RGB").crop((0, 0, picture.width, min(picture.height, MOST_PIXELS)))
            top.quantize(colors=256, dither=Image.Dither.NONE).save(folder / f"{name}.png", optimize=True)
        raw.unlink()

    return take
