"""The pages in a real Chromium: nothing is complained of, everybody can use them, and what people do there works."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from backstory.core import Caller, Core, Engine

from ..conftest import open_sqlite
from ..doubles import SteppedClock, make_settings
from ..missing import NPM_PACKAGES, skip_without
from ..patience import PATIENCE_S
from .conftest import Pages, open_sample, serve_pages
from .sample import HARMFUL, LONG, LONG_LENGTH, MAIN, fill_long, message

AXE = Path(__file__).parents[1] / "clients" / "node_modules" / "axe-core" / "axe.min.js"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ALL = [
    "/",
    "/search?q=which+queue+for+orders",
    "/conversations",
    f"/conversation/{MAIN}",
    "/memories",
    "/memory/decision",
    "/files",
    "/file?path=src/queue.py",
    "/timeline",
    "/graph",
    "/graph?about=queue",
    "/injected",
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


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        skip_without("Chromium for the browser tests", "apt install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS, timeout=PATIENCE_S * 1000)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens a site; whatever the browser complains of fails the test."""
    complaints: list[str] = []
    contexts: list[BrowserContext] = []

    def open(pages: Pages, path: str = "/", **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        context.set_default_timeout(PATIENCE_S * 1000)
        name, _, value = pages.cookie.partition("=")
        context.add_cookies([{"name": name, "value": value, "url": pages.url}])
        page = context.new_page()
        page.on(
            "console",
            lambda told: complaints.append(told.text) if told.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(pages.url + path)
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


def test_everybody_can_use_every_page_in_light_and_dark(pages: Pages, opened: Open) -> None:
    if not AXE.exists():
        skip_without("axe-core", NPM_PACKAGES)
    page = opened(pages, bypass_csp=True)  # or the checker itself would not be let in
    found: dict[str, list[str]] = {}
    for path in ALL:
        page.goto(pages.url + path)
        page.add_script_tag(path=AXE)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme="light" if scheme == "light" else "dark")
            rules = (
                {"type": "tag", "values": STANDARD}
                if scheme == "light"
                else {"type": "rule", "values": ["color-contrast"]}
            )
            told = page.evaluate("rules => axe.run({ runOnly: rules })", rules)
            found |= {
                f"{path} {scheme} {each['id']}": [node["html"][:200] for node in each["nodes"]]
                for each in told["violations"]
            }
    assert found == {}


def test_no_page_is_wider_than_a_phone_and_no_planted_script_runs(pages: Pages, opened: Open) -> None:
    page = opened(pages, viewport={"width": 390, "height": 800})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    wide = {}
    for path in (*ALL, f"/conversation/{HARMFUL}", "/memory/harm", "/search?q=click+bold"):
        page.goto(pages.url + path)
        if (width := page.evaluate("document.documentElement.scrollWidth")) > 390:
            wide[path] = width
        assert page.evaluate("window.harmed") is None
    assert wide == {}
    assert [url for url in asked if not url.startswith(pages.url)] == []


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
    core.engine.close()


def test_a_memory_is_edited_undone_forgotten_and_brought_back(own_pages: Pages, opened: Open) -> None:
    page = opened(own_pages, "/memory/decision")
    page.get_by_text("Edit", exact=True).click()
    page.get_by_label("What it says from now on").fill("We take NATS.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".memory-text")).to_have_text("We take NATS.")
    expect(page.locator(".history")).to_contain_text("We take RabbitMQ")
    page.get_by_role("button", name="Say again what it said").first.click()
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
