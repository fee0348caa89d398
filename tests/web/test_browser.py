"""The pages in a real Chromium: nothing is complained of, everybody can use them, and what people do there works."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from backstory.core import Caller, Core, Engine
from backstory.domain.records import Trace

from ..conftest import open_sqlite
from ..doubles import SteppedClock, make_conversation, make_messages, make_settings
from ..missing import NPM_PACKAGES, skip_without
from ..patience import PATIENCE_S
from ..processes import BACKSTORY, environment
from .conftest import Pages, open_sample, serve_pages
from .sample import EDITED, HARMFUL, LONG, LONG_LENGTH, MAIN, SHOP, TRACED, conversation, fill_long, message

AXE = Path(__file__).parents[1] / "clients" / "node_modules" / "axe-core" / "axe.min.js"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ALL = [
    "/",
    "/search?q=which+queue+for+orders",
    "/conversations",
    f"/conversation/{MAIN}",
    "/memories",
    "/memory/decision",
    "/statements?project=/work/shop",
    "/files",
    "/file?path=src/queue.py",
    "/timeline",
    "/graph",
    "/graph?about=queue",
    "/inbox",
    "/injected",
    "/usage",
    "/stats",
    "/health",
]
STANDARD = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
FLAGS = [
    "--no-sandbox",  # root needs it, and only our own pages are opened
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

Open = Callable[..., Page]

expect.set_options(timeout=PATIENCE_S * 1000)


# Playwright's event loop runs in this thread until the browser closes; with scope "session" a later asyncio.run fails
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        skip_without("Chromium for the browser tests", "apt install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS, timeout=PATIENCE_S * 1000)
        yield browser
        browser.close()


def leave(page: Page) -> None:
    """Close all pages before a test stops their server: the browser would complain of a request that is under way."""
    browser = page.context.browser
    assert browser is not None
    for context in browser.contexts:
        context.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens a site; whatever the browser complains of fails the test."""
    complaints: list[str] = []
    contexts: list[BrowserContext] = []

    def open(pages: Pages | None, path: str = "/", **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        context.set_default_timeout(PATIENCE_S * 1000)
        if pages is not None:  # else the path is a link that lets one in
            name, _, value = pages.cookie.partition("=")
            context.add_cookies([{"name": name, "value": value, "url": pages.url}])
        page = context.new_page()
        page.on(
            "console",
            lambda told: complaints.append(told.text) if told.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path if pages is None else pages.url + path)
        return page

    yield open
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="module")
def long_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    folder = tmp_path_factory.mktemp("long")
    engine = Engine(make_settings(folder), open_sqlite(folder / "store.db"), None, now=SteppedClock())
    core = Core(engine, Caller(project="/work/blog"))
    fill_long(core)
    yield from serve_pages(core)
    engine.close()


def violations(pages: Pages, opened: Open, paths: list[str]) -> dict[str, list[str]]:
    """Rules of accessibility that pages break, in light and in dark."""
    if not AXE.exists():
        skip_without("axe-core", NPM_PACKAGES)
    page = opened(pages, bypass_csp=True)  # or the checker itself would not be let in
    broken: dict[str, list[str]] = {}
    for path in paths:
        page.goto(pages.url + path)
        page.add_script_tag(path=AXE)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme="light" if scheme == "light" else "dark")
            rules = (
                {"type": "tag", "values": STANDARD}
                if scheme == "light"
                else {"type": "rule", "values": ["color-contrast"]}
            )
            report = page.evaluate("rules => axe.run({ runOnly: rules })", rules)
            broken |= {
                f"{path} {scheme} {each['id']}": [node["html"][:200] for node in each["nodes"]]
                for each in report["violations"]
            }
    return broken


def test_everybody_can_use_every_page_in_light_and_dark(pages: Pages, opened: Open) -> None:
    assert violations(pages, opened, ALL) == {}


def test_no_page_is_wider_than_a_phone_and_no_planted_script_runs(pages: Pages, opened: Open) -> None:
    page = opened(pages, viewport={"width": 320, "height": 800})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    wide = {}
    for path in (*ALL, f"/conversation/{HARMFUL}", "/memory/harm", "/search?q=click+bold"):
        page.goto(pages.url + path)
        if (width := page.evaluate("document.documentElement.scrollWidth")) > 320:
            wide[path] = width
        assert page.evaluate("window.harmed") is None
    assert wide == {}
    assert [url for url in asked if not url.startswith(pages.url)] == []


def test_words_without_an_end_widen_no_page(own_pages: Pages, opened: Open) -> None:
    path = f"src/{'folder-of-many-words/' * 8}teapot.py"
    talk = make_conversation("codex:wide", title="x" * 400, project=SHOP, directory=SHOP)
    messages = make_messages(talk.id, f"Mend https://example.org/{'teapot' * 60}", "Done.", project=SHOP)
    asked = messages[0]._replace(role="user")
    own_pages.core.engine.store.conversations.add(
        talk, [asked, messages[1]], [Trace(messages[1].id, "written", path)]
    )
    page = opened(own_pages, viewport={"width": 320, "height": 800})
    for address in (f"/file?path={path}", f"/file?path={path}&project={SHOP}", "/files", "/", "/conversations", f"/conversation/{talk.id}", "/timeline", "/search?q=mend"):  # fmt: skip
        page.goto(own_pages.url + address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, address
    leave(page)


def test_a_phone_shows_in_the_menu_where_one_is(pages: Pages, opened: Open) -> None:
    page = opened(pages, "/health", viewport={"width": 390, "height": 800})
    expect(page.get_by_role("navigation").get_by_role("link", name="Health")).to_be_in_viewport(ratio=1)


def test_a_search_shows_its_reasons_as_one_types(pages: Pages, opened: Open) -> None:
    page = opened(pages, "/search")
    page.get_by_label("Search", exact=True).fill("which queue keeps orders")
    first = page.locator(".hit").first
    expect(first.locator("mark").first).to_be_visible()
    expect(page).to_have_url(f"{pages.url}/search?q=which+queue+keeps+orders")
    first.locator(".why summary").click()
    expect(first.get_by_role("rowheader", name="coverage")).to_be_visible()
    page.get_by_role("complementary").get_by_role("link", name="memory", exact=True).click()
    expect(page.locator(".hit")).to_have_count(1)


def test_results_appear_as_one_types_on_every_page(pages: Pages, opened: Open) -> None:
    page = opened(pages, "/memories")
    search = page.get_by_label("Search", exact=True)
    search.press_sequentially("which queue keeps orders")
    live = page.get_by_role("region", name="Search results")
    expect(live.locator(".hit").first).to_be_visible()
    expect(page).to_have_url(f"{pages.url}/memories")
    search.press("Escape")
    expect(live).to_be_hidden()
    search.fill("zyzzyva quagmire")
    expect(live.get_by_text("No results")).to_be_visible()


def test_the_pages_work_without_a_script(pages: Pages, opened: Open) -> None:
    page = opened(pages, java_script_enabled=False)
    page.get_by_label("Search", exact=True).fill("queue orders")
    page.keyboard.press("Enter")
    page.locator(".hit a").first.click()
    expect(page.locator("h1")).to_be_visible()


def test_the_keyboard_alone_is_enough(pages: Pages, opened: Open) -> None:
    page = opened(pages, "/memories")
    page.keyboard.press("/")
    page.keyboard.type("queue orders")
    page.keyboard.press("Enter")
    # live results show hits before Enter leads to the search page; only that page's script may hear the next keys
    expect(page).to_have_url(f"{pages.url}/search?q=queue+orders")
    expect(page.get_by_role("button", name="Colours")).to_be_visible()
    expect(page.locator(".hit").first).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page.locator(".hit a").first).to_be_focused()
    page.keyboard.press("w")
    expect(page.locator(".why[open]")).to_have_count(1)
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Keyboard")).to_be_hidden()  # keys in a dialog are not shortcuts
    page.keyboard.press("g")
    page.keyboard.press("t")
    expect(page).to_have_url(f"{pages.url}/timeline")
    # the page's script ran, and hears keys
    expect(page.get_by_role("button", name="Colours")).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("mem")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{pages.url}/memories")


def test_the_jump_dialog_shows_results_and_leads_to_them(pages: Pages, opened: Open) -> None:
    page = opened(pages, "/memories")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to a page").fill("which queue keeps orders")
    option = page.get_by_role("option").filter(has_text="Choosing a queue").first
    expect(option).to_be_visible()
    option.click()
    expect(page).to_have_url(re.compile(rf"/conversation/{quote(MAIN, safe='')}\?at=\d+#m\d+$"))


def test_a_filter_is_saved_and_chosen_again(pages: Pages, opened: Open) -> None:
    page = opened(pages, "/conversations?project=/work/shop&assistant=codex&title=")
    page.get_by_role("button", name="Save this filter").click()
    saved = page.get_by_role("group", name="Saved filters")
    expect(saved.get_by_role("link", name="shop, Codex")).to_be_visible()
    page.goto(f"{pages.url}/conversations")
    saved.get_by_role("link", name="shop, Codex").click()
    expect(page).to_have_url(f"{pages.url}/conversations?project=%2Fwork%2Fshop&assistant=codex")
    expect(page.locator("select[name=project]")).to_have_value("/work/shop")
    expect(page.locator("select[name=assistant]")).to_have_value("codex")
    saved.get_by_role("button", name="Remove saved filter shop, Codex").click()
    expect(saved.get_by_role("link")).to_have_count(0)


def test_an_empty_home_offers_to_read_the_assistants_of_this_machine(tmp_path: Path, opened: Open) -> None:
    log = tmp_path / "nobody" / ".claude" / "projects" / "-shop" / "1.jsonl"
    log.parent.mkdir(parents=True)
    common = {"sessionId": "1", "cwd": "/work/shop", "timestamp": "2026-11-01T10:00:00Z"}
    said = {"role": "user", "content": "Heat the teapot of the shop."}
    log.write_text(json.dumps({**common, "type": "user", "uuid": "u1", "message": said}) + "\n")
    command = [*BACKSTORY, "web", "--no-open", "--embeddings", "off"]
    with subprocess.Popen(
        command, env=environment(tmp_path), stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stderr is not None
        link = re.search(r"http\S+", process.stderr.readline())
        assert link is not None
        page = opened(None, link[0])
        # the page reads by itself soon; whoever is quick enough sees the offer, and both end with the conversation
        row = page.get_by_role("link", name="Heat the teapot of the shop.")
        offer = page.get_by_role("button", name="Read them now")
        expect(row.or_(offer).first).to_be_visible()
        expect(row.first).to_be_visible()
        leave(page)
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_S)


def test_an_empty_home_lists_histories_that_were_not_read(tmp_path: Path, opened: Open) -> None:
    engine = Engine(make_settings(tmp_path), open_sqlite(tmp_path / "store.db"), None, now=SteppedClock())
    for pages in serve_pages(Core(engine, Caller(project="/work/shop")), histories={"Claude Code": 3}):
        page = opened(pages, "/")
        expect(page.get_by_role("row").filter(has_text="Claude Code")).to_contain_text("3")
        assert violations(pages, opened, ["/"]) == {}
        page.get_by_role("button", name="Read them now").click()
        expect(page).to_have_url(f"{pages.url}/?reading=1")
        expect(page.get_by_role("status").filter(has_text="Reading them now")).to_be_visible()
        leave(page)
    engine.close()


def test_twenty_thousand_messages_are_read_from_any_place(long_pages: Pages, opened: Open) -> None:
    page = opened(long_pages, f"/conversation/{LONG}?at=10001#m10001")
    expect(page.locator("#m10001")).to_be_in_viewport()
    before = page.locator("#m10001").bounding_box()
    expect(page.locator("#m9950")).to_be_attached()  # the earlier part came, and nothing moved
    after = page.locator("#m10001").bounding_box()
    assert before is not None
    assert after is not None
    assert abs(before["y"] - after["y"]) < 2
    page.keyboard.press("]")
    expect(page.locator("#m10006")).to_be_focused()
    page.keyboard.press("[")
    expect(page.locator("#m10001")).to_be_focused()
    page.goto(f"{long_pages.url}/conversation/{LONG}?at={LONG_LENGTH}")
    page.keyboard.press("End")
    expect(page.locator(f"#m{LONG_LENGTH}")).to_be_in_viewport()
    assert page.locator(".message").count() < 400
    style = page.locator(f"#m{LONG_LENGTH}").evaluate("each => getComputedStyle(each).contentVisibility")
    assert style == "auto"  # what is not seen costs nothing to lay out


def test_parts_of_a_long_conversation_leave_the_page_while_one_scrolls(
    long_pages: Pages, opened: Open
) -> None:
    page = opened(long_pages, f"/conversation/{LONG}?at=5000#m5000")
    expect(page.locator("#m5000")).to_be_in_viewport()
    for number in range(5_010, 5_501, 10):
        page.locator(f"#m{number}").scroll_into_view_if_needed()
    expect(page.locator("#m5000")).to_have_count(0)
    assert page.evaluate("document.querySelectorAll('*').length") < 2_500
    for number in range(5_490, 4_999, -10):
        page.locator(f"#m{number}").scroll_into_view_if_needed()
    expect(page.locator("#m5000")).to_be_in_viewport()
    expect(page.locator("#m5500")).to_have_count(0)


def test_results_and_subagents_are_opened_where_they_stand(traced_pages: Pages, opened: Open) -> None:
    page = opened(traced_pages, f"/conversation/{TRACED}")
    failed = page.locator(".tool.failed")
    expect(failed.locator(".output")).to_be_hidden()
    failed.locator("summary").click()
    expect(failed.locator(".output")).to_have_text("1 failed: Teapot is cold")
    page.get_by_role("button", name="Expand all").click()
    page.get_by_role("link", name="Show the whole result").click()
    expect(page.get_by_text("line 500 of the log")).to_be_visible()
    expect(page.get_by_text("Stone cold.")).to_be_visible()  # of the subagent
    page.get_by_role("button", name="Fold all").click()
    expect(page.get_by_text("Stone cold.")).to_be_hidden()
    page.get_by_label("Find in this session").press_sequentially("teapot")
    page.get_by_role("link", name="Teapot is cold").click()
    expect(failed.locator(".output")).to_be_in_viewport()
    assert page.evaluate("window.harmed") is None


def test_a_session_shows_its_changes_as_one_difference_for_each_file(
    traced_pages: Pages, opened: Open
) -> None:
    page = opened(traced_pages, f"/conversation/{EDITED}")
    page.get_by_role("link", name="Changes", exact=True).click()
    expect(page).to_have_url(f"{traced_pages.url}/changes/{quote(EDITED, safe='')}")
    difference = page.get_by_label("Changes of src/teapot.py")
    expect(difference.locator(".gone")).to_have_text(["HEAT = 0  # cold\n"])
    expect(difference.locator(".new")).to_have_text(["HEAT = 100  # hot\n", 'STATE = "boiling"\n'])
    expect(difference.locator(".c-string")).to_have_text('"boiling"')
    assert violations(traced_pages, opened, [f"/changes/{EDITED}"]) == {}


def test_a_minimap_shows_the_course_of_a_session_and_leads_to_its_places(
    long_pages: Pages, opened: Open
) -> None:
    page = opened(long_pages, f"/conversation/{LONG}?at=10000")
    expect(page.locator("#m10000")).to_be_attached()
    window = page.locator(".minimap .window")
    expect(window).to_have_attribute(
        "y", re.compile(r"^8[89]\.\d+$|^8[89]$")
    )  # 10,000 of 20,000 messages, 112 a mark
    mark = page.locator(".minimap a").nth(20)
    number = mark.get_attribute("data-number")
    mark.dispatch_event("click")
    expect(page.locator(f"#m{number}")).to_be_in_viewport()


def test_usage_is_drawn_and_told_in_tables(traced_pages: Pages, opened: Open) -> None:
    page = opened(traced_pages, "/usage")
    page.locator("select[name=by]").select_option("model")
    page.locator("select[name=measure]").select_option("tokens")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("img", name="Tokens of 26 weeks; at most 3.0M in one")).to_be_visible()
    expect(page.locator("select[name=by]")).to_have_value("model")
    page.get_by_text("As a table").click()
    expect(page.get_by_role("cell", name="3.0M").first).to_be_visible()
    bash = page.get_by_role("row").filter(has_text="Bash")
    expect(bash).to_contain_text("50.0 %")
    assert violations(traced_pages, opened, ["/usage", "/usage?by=assistant&measure=cost"]) == {}


def test_a_line_of_a_file_leads_to_the_session_that_wrote_it(blamed_pages: Pages, opened: Open) -> None:
    page = opened(blamed_pages, "/file?path=kettle.py")
    page.get_by_role("link", name="Authors of its lines").click()
    run = page.get_by_role("row").filter(has_text="BOILING_POINT_CELSIUS")
    link = run.get_by_role("link", name="Add the temperatures of the kettle.")
    expect(link).to_have_attribute("title", "Add the temperatures of the kettle.")
    link.click()
    expect(page.get_by_role("heading", name="The kettle")).to_be_visible()
    assert violations(blamed_pages, opened, ["/blame?path=kettle.py"]) == {}


def test_the_page_of_a_session_and_of_a_result_are_for_everybody(traced_pages: Pages, opened: Open) -> None:
    result = f"/result/{TRACED}?message={TRACED}:1:tool&call=1"
    assert violations(traced_pages, opened, [f"/conversation/{TRACED}?find=pass", result]) == {}


def test_what_is_said_meanwhile_appears(tmp_path: Path, opened: Open) -> None:
    core = open_sample(tmp_path)
    for pages in serve_pages(core):
        page = opened(pages, f"/conversation/{MAIN}")
        with page.expect_response(lambda answer: "/events" in answer.url):
            page.reload()
        store = core.engine.store
        (conversation,) = store.conversations.get([MAIN])
        store.conversations.add(conversation, [message(conversation, 5, "assistant", "One thing more.")], [])
        expect(page.get_by_text("One thing more.")).to_be_visible()
        leave(page)
    core.engine.close()


def test_a_memory_is_edited_undone_forgotten_and_brought_back(own_pages: Pages, opened: Open) -> None:
    page = opened(own_pages, "/memory/decision")
    page.get_by_text("Edit", exact=True).click()
    page.get_by_label("New text").fill("We take NATS.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".memory-text")).to_have_text("We take NATS.")
    expect(page.locator(".history")).to_contain_text("We take RabbitMQ")
    page.get_by_role("button", name="Restore the version of").first.click()
    expect(page.locator(".memory-text")).to_contain_text("We take RabbitMQ")
    page.get_by_text("Forget", exact=True).first.click()
    page.get_by_role("button", name="Forget", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("Forgotten")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".memory-text")).to_contain_text("We take RabbitMQ")
    page.get_by_text("Forget", exact=True).first.click()
    page.get_by_role("button", name="Forget for good, now").click()
    expect(page.get_by_role("rowheader", name="memories")).to_be_visible()
    assert own_pages.get("/memory/decision").status == 404


def test_a_project_s_statements_are_saved_and_dismissed(own_pages: Pages, opened: Open) -> None:
    talk = conversation("codex:stated", "Brokers")
    texts = ("Let's keep RabbitMQ as the broker of orders.", "Noted.", "Never push to main.", "Noted.")
    roles = ("user", "assistant") * 2
    said = [message(talk, n, role, text) for n, (role, text) in enumerate(zip(roles, texts, strict=True))]
    own_pages.core.engine.store.conversations.add(talk, said, [])
    page = opened(own_pages, "/conversations?project=/work/shop")
    page.get_by_role("link", name="Statements in force in this project").click()
    expect(page.get_by_role("heading", name="Decision")).to_be_visible()
    page.get_by_role("button", name="Dismiss: Never push to main.").click()
    expect(page.get_by_text("Never push to main.")).to_have_count(0)
    page.get_by_role("button", name="Save as a memory: Let's keep RabbitMQ").click()
    expect(page.locator(".memory-text")).to_have_text(texts[0])


def test_light_or_dark_is_kept(pages: Pages, opened: Open) -> None:
    page = opened(pages, color_scheme="light")
    switch = page.get_by_role("button", name="Colours")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    switch.click()
    switch.click()
    expect(switch).to_have_text("Dark")
    page.reload()
    expect(switch).to_have_text("Dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
