"""What a person sees and does in the Inspector, in a real browser on a real stack. Pictures are taken on the way."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from conversation import INJECTED
from playwright.sync_api import Page, expect

Shoot = Callable[[Page, str], None]
SECRET = "quokka"  # said by Bob alone
VIEWS = ("", "/sessions", "/sessions/harbour", "/prompt", "/gate", "/rules", "/work")


def test_a_login_leads_to_the_overview_and_a_wrong_token_says_so(visit: Any, shoot: Shoot) -> None:
    page = visit.page
    page.goto(visit.place.address())
    assert page.url.endswith("/inspector/login")
    page.get_by_label("Token").fill("lt_nobody")
    shoot(page, "login")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("not known here")
    visit.complaints.clear()  # the browser names the 401 that the page explains
    visit.log_in()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    expect(page.locator(".health li.good")).to_have_count(4)
    expect(page.locator("figure svg")).to_have_count(4)
    shoot(page, "overview")


def test_no_script_can_read_the_login_and_logging_out_ends_it(visit: Any) -> None:
    page = visit.log_in()
    cookie = next(one for one in page.context.cookies() if one["name"] == "longtail_inspector")
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/inspector")
    assert visit.place.tenant.token not in str(page.context.cookies())
    readable = "document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)"
    assert page.evaluate(readable) == "{}{}"
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    page.context.add_cookies([{**cookie}])
    page.goto(visit.place.address("/work"))
    expect(page.get_by_label("Token")).to_be_visible()


def test_a_page_that_was_asked_for_comes_after_the_login(visit: Any) -> None:
    page = visit.page
    page.goto(visit.place.address("/sessions?user_id=ilse"))
    page.get_by_label("Token").fill(visit.place.tenant.token)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/sessions?user_id=ilse")
    expect(page.get_by_role("link", name="harbour")).to_be_visible()
    expect(page.get_by_role("link", name="bob-home")).to_have_count(0)


def test_a_summary_unfolds_level_by_level_to_the_words_that_were_said(visit: Any, shoot: Shoot) -> None:
    page = visit.log_in()
    page.get_by_role("link", name="Sessions").click()
    shoot(page, "sessions")
    page.get_by_role("link", name="harbour").click()
    expect(page.locator("svg.timeline rect.tail")).to_have_count(4)
    high = page.locator("details.unfold", has=page.get_by_text("level 2", exact=True)).first
    high.locator("summary").first.click()
    low = high.locator(".below > details.unfold").first
    expect(low).to_contain_text("level 1")
    low.locator("summary").click()
    first = visit.place.tenant.client.call("GET", "/v1/sessions/harbour/turns", params={"limit": 1})["turns"][
        0
    ]
    expect(low.locator(".turn-card").first).to_contain_text(first["content"])
    shoot(page, "session")


def test_a_summary_on_the_timeline_opens_below(visit: Any) -> None:
    page = visit.log_in()
    page.goto(visit.place.address("/sessions/harbour"))
    page.locator("svg.timeline a").first.click()
    expect(
        page.locator("details.unfold[open] .turn-card, details.unfold[open] details").first
    ).to_be_visible()


def test_a_prompt_is_assembled_live_and_explained(visit: Any, shoot: Shoot) -> None:
    page = visit.log_in()
    page.get_by_role("link", name="Prompt", exact=True).click()
    page.get_by_label("Session").fill("harbour")
    page.get_by_label("Query").fill("What did we decide about Brest?")
    page.get_by_label("Budget").fill("1500")
    page.get_by_role("button", name="Assemble").click()
    expect(page.locator("svg.stacked rect.part")).to_have_count(5)
    used, total = (int(part.replace("\u202f", "")) for part in _budget_of(page))
    assert 0 < used <= total == 1500
    text = page.locator("pre").inner_text()
    assert "Never push to the `release` branch" in text
    recall = page.locator("details.tier", has=page.get_by_text("Recall", exact=True))
    expect(recall.locator("tbody tr.chosen").first).to_contain_text("in")
    expect(recall.locator("thead").first).to_contain_text("cosine")
    chosen, dropped = map(int, re.findall(r"\d+", recall.locator("summary").first.inner_text()))
    expect(recall.locator("tbody tr")).to_have_count(chosen + dropped)
    expect(recall.locator("tbody tr:visible")).to_have_count(chosen + min(dropped, 12))
    shoot(page, "prompt")
    page.get_by_role("link", name="Compare with the prompt before").click()
    expect(page.get_by_role("heading", name="Two prompts")).to_be_visible()
    expect(page.get_by_text("Prompt cache keeps")).to_be_visible()
    shoot(page, "compare")
    page.goto(visit.place.address("/prompt?session_id=harbour"))
    page.get_by_role("button", name="Assemble").click()  # without a query: what a session starts with
    expect(page.locator("svg.stacked rect.part").first).to_be_visible()


def _budget_of(page: Page) -> list[str]:
    words = page.locator("ul.legend li").last.inner_text()
    return words.removesuffix(" tokens").split(" of ")


def test_a_receipt_is_opened_and_replayed(visit: Any, shoot: Shoot) -> None:
    page = visit.log_in()
    page.goto(visit.place.address("/prompt?session_id=harbour&query=Which+ports+crash%3F&budget=900"))
    page.get_by_role("link", name="Its receipt").click()
    page.get_by_role("button", name="Replay").click()
    expect(page.get_by_role("status")).to_contain_text("the same prompt")
    shoot(page, "receipt")


def test_a_decision_is_labelled_by_keyboard_and_the_label_is_kept(visit: Any, shoot: Shoot) -> None:
    page = visit.log_in()
    page.get_by_role("link", name="Gate", exact=True).click()
    expect(page.locator("svg:visible .threshold")).to_have_count(1)
    shoot(page, "gate")
    button = page.get_by_role("button", name="Useful").first
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator("button[aria-pressed=true]")).to_have_text(["Useful"])
    kept = "SELECT count(*) FROM longtail.feedback WHERE tenant_id = :tenant AND is_useful"
    assert visit.place.tenant.one(kept) == 1
    expect(page.get_by_text("Would choose")).to_be_visible()


def test_rules_show_costs_conflicts_and_who_overrules_whom(visit: Any, shoot: Shoot) -> None:
    page = visit.log_in()
    page.get_by_role("link", name="Rules").click()
    page.locator("details.unfold", has_text="AGENTS.md").locator("summary").click()
    expect(page.get_by_text("Conflict")).to_be_visible()
    overruled = page.locator("h2:has-text('Overruled') + .scroll")
    expect(overruled).to_contain_text("use emojis in your replies")
    expect(overruled).to_contain_text("Never use emojis")
    expect(page.locator("h2:has-text('Superseded') + .scroll")).to_contain_text(
        "always use metric units in tables"
    )
    shoot(page, "rules")
    page.locator("details.unfold", has_text="AGENTS.md").locator("summary").click()
    expect(page.locator("h2:has-text('Standing wishes') + .lead + .scroll")).to_contain_text("show me diffs")
    shoot(page, "wishes")
    page.get_by_role("button", name="Forget: From now on please show me diffs").click()
    expect(page.locator("h2:has-text('Forgotten') + .scroll")).to_contain_text("show me diffs")


def test_a_dead_letter_is_shown_with_its_reason_and_replayed(visit: Any, shoot: Shoot) -> None:
    tenant = visit.place.tenant
    tenant.rows(
        "WITH gone AS (UPDATE longtail.work SET stage = 'failed' WHERE item_id = (SELECT id FROM longtail.turns "
        "WHERE tenant_id = :tenant AND session_id = 'harbour' ORDER BY position LIMIT 1) RETURNING tenant_id, item_id) "
        "INSERT INTO longtail.dead_letters (tenant_id, item_id, stage, reason, attempts) SELECT tenant_id, item_id, "
        "'ingested', 'RuntimeException: the encoder refused the text', 5 FROM gone RETURNING 1"
    )
    page = visit.log_in()
    page.get_by_role("link", name="Work").click()
    expect(page.get_by_text("the encoder refused the text")).to_be_visible()
    expect(page.get_by_role("row", name="memory.sweep")).to_contain_text("ok")
    shoot(page, "work")
    page.get_by_role("button", name="Replay all").click()
    expect(page.get_by_text("No dead letters: nothing was given up")).to_be_visible()
    tenant.settle()


def test_an_injected_script_stays_text_wherever_it_is_shown(visit: Any) -> None:
    page = visit.log_in()
    shown = {
        "/sessions/inbox": ".said",
        "/prompt?session_id=inbox&query=Dover+ticket&budget=1500": "pre",
        "/gate": "main",
    }
    for path, where in shown.items():
        page.goto(visit.place.address(path))
        assert "owned" not in page.title()
        if path != "/gate":  # whether it is near the threshold is the gate's to say
            expect(page.locator(where).filter(has_text="document.title='owned'").first).to_be_visible()
    page.goto(visit.place.address("/sessions/inbox"))
    assert INJECTED in page.locator(".said").all_inner_texts()


def test_a_bound_token_sees_its_own_and_nothing_of_others(visit: Any) -> None:
    page = visit.log_in(visit.place.bob)
    expect(page.get_by_text("bob", exact=True)).to_be_visible()
    for path in VIEWS:
        answer = page.goto(visit.place.address(path))
        words = page.locator("body").inner_text()
        assert answer is not None
        assert not [name for name in ("ilse", "Brest", "AGENTS", "diffs") if name in words], path
        if path == "/sessions/harbour":
            assert answer.status in {403, 404}
            visit.complaints.clear()  # the browser names the refusal
        if path in {"/rules", "/gate"}:
            assert SECRET in words, path


def test_a_token_that_reads_is_offered_no_deed(visit: Any) -> None:
    page = visit.log_in(visit.place.reader)
    for path in ("/gate", "/rules", "/work"):
        page.goto(visit.place.address(path))
        expect(page.locator("main button")).to_have_count(0)


def test_every_view_is_reached_and_used_by_keyboard_alone(visit: Any) -> None:
    page = visit.page
    page.goto(visit.place.address("/login"))
    page.keyboard.type(visit.place.tenant.token)  # the field has the cursor
    page.keyboard.press("Enter")
    page.wait_for_url(visit.place.address())
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to content")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    for name in ("Sessions", "Prompt", "Gate", "Rules", "Work", "Overview"):
        _tab_to(page, name)
        page.keyboard.press("Enter")
        expect(page.locator("nav a[aria-current=page]")).to_have_text(name)
    page.goto(visit.place.address("/prompt"))
    page.keyboard.press("/")
    expect(page.get_by_label("Query")).to_be_focused()
    page.goto(visit.place.address("/sessions/harbour"))
    _tab_to(page, "level 2")
    page.keyboard.press("Enter")
    expect(page.locator(".below > details").first).to_be_visible()


def _tab_to(page: Page, words: str) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if words in (page.locator(":focus").inner_text() if page.locator(":focus").count() else ""):
            return
    raise AssertionError(f"Tab never reaches '{words}'")


@pytest.mark.parametrize("look", ["dark", "narrow"])
@pytest.mark.parametrize("path", [*VIEWS, "/prompt?session_id=harbour&query=What+about+Brest%3F&budget=1500"])
def test_every_view_fits_the_dark_and_a_phone(visit: Any, shoot: Shoot, path: str, look: str) -> None:
    page = visit.log_in()
    if look == "dark":
        page.emulate_media(color_scheme="dark")
    else:
        page.set_viewport_size({"width": 390, "height": 800})
    page.goto(visit.place.address(path))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    name = path.split("?")[0].strip("/").replace("/", "-") or "overview"
    if path in ("", "/sessions/harbour") or "query" in path:
        shoot(page, f"{name}-{look}")
    assert _contrast_of(page) >= 4.5


def _contrast_of(page: Page) -> float:
    """The least contrast of words with the ground they stand on (WCAG)."""
    return float(
        page.evaluate(
            """() => {
              const channels = (colour) => {
                const numbers = colour.match(/[\\d.]+/g).map(Number);
                if (colour.startsWith("color(srgb")) return numbers;
                return [...numbers.slice(0, 3).map((v) => v / 255), ...numbers.slice(3)];
              };
              const light = (colour) => {
                const [r, g, b] = channels(colour).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
              };
              const ground = (one) => {
                const colour = getComputedStyle(one).backgroundColor;
                return (channels(colour)[3] ?? 1) > 0.99 || !one.parentElement ? colour : ground(one.parentElement);
              };
              const has_words = (one) => [...one.childNodes].some((part) => part.nodeType === 3 && part.data.trim());
              const all = [...document.querySelectorAll("body *:not(svg *)")];
              const words = all.filter((one) => has_words(one) && one.checkVisibility());
              const ratios = words.map((one) => {
                const [a, b] = [light(getComputedStyle(one).color), light(ground(one))].sort((x, y) => y - x);
                return (a + 0.05) / (b + 0.05);
              });
              return Math.min(21, ...ratios);
            }"""
        )
    )


def test_an_empty_tenant_says_what_to_do(
    visit: Any, shoot: Shoot, stack: Any, owner: Any, tenant_on: Any
) -> None:
    empty = tenant_on(stack, owner)
    page = visit.log_in(empty.token)
    for path, words in (
        ("", "Nothing came in"),
        ("/sessions", "No sessions yet"),
        ("/prompt", "No receipts yet"),
        ("/gate", "decided nothing yet"),
        ("/rules", "No documents yet"),
        ("/work", "No dead letters"),
    ):
        page.goto(visit.place.address(path))
        expect(page.locator(".empty").filter(has_text=words)).to_be_visible()
    empty.client.__exit__()
