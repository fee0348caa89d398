"""Draw the pictures of the pages in docs/images from the invented shop of `backstory demo`.

    .venv/bin/python scripts/draw_pages.py [CHROMIUM]

`search.png` and `blame.png` are screenshots of a running `backstory web`. Run it after a change to these pages.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote_plus

from playwright.sync_api import Page, sync_playwright

from backstory.app import environment_of
from backstory.cli.demo import QUESTION
from backstory.cli.demo_home import BILLING, commit_all, make_shop
from backstory.domain.when import utc_now

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
CHROMIUM = "/usr/bin/chromium"
WIDTH, HEIGHT = 1200, 720  # pixels
FOLDER = Path("/tmp/demo")  # is in the pictures
BY_HAND = '''

def overdue(invoices, today):
    """Ann keeps these out of the monthly mail."""
    return [each for each in invoices if each.due < today]
'''


def main(chromium: str) -> None:
    FOLDER.mkdir()
    try:
        draw_shop(chromium, FOLDER)
    finally:
        shutil.rmtree(FOLDER)


def draw_shop(chromium: str, folder: Path) -> None:
    shop = make_shop(folder, utc_now())
    (shop.project / "src" / "billing.py").write_text(BILLING + BY_HAND, "utf-8")
    commit_all(shop.project, "List overdue invoices", utc_now())
    command = [sys.executable, "-m", "backstory", f"--home={folder}/store", "--backups=off"]
    environment = environment_of(shop.user, columns=80)
    for name in ("sync", "embed"):
        subprocess.run([*command, name], env=environment, cwd=shop.project, check=True, capture_output=True)
    pages = subprocess.Popen(
        [*command, "web", "--no-open"], env=environment, cwd=shop.project, stderr=subprocess.PIPE, text=True
    )
    assert pages.stderr is not None
    try:
        draw(chromium, pages.stderr.readline().split()[-1], str(shop.project))
    finally:
        pages.terminate()
        pages.wait()


def draw(chromium: str, link: str, project: str) -> None:
    base = link.split("/?")[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(link)
        page.goto(f"{base}/search?q={quote_plus(QUESTION)}")
        page.locator(".why summary").first.click()
        shoot(page, "search.png")
        page.goto(f"{base}/blame?path=src/billing.py&project={quote_plus(project)}")
        shoot(page, "blame.png")
        browser.close()


def shoot(page: Page, name: str) -> None:
    page.wait_for_load_state("networkidle")
    page.mouse.move(0, 0)
    page.screenshot(path=IMAGES / name)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else CHROMIUM)
