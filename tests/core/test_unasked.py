"""What a session is told without asking has no secrets in it, though what a tool saved is stored word for word."""

from __future__ import annotations

from pathlib import Path

import pytest

from backstory.core import Caller, Core
from backstory.core.brief.files import BriefFiles, Briefs
from backstory.surfaces.backstory.documents import read_resource

from ..conftest import caller_of
from ..doubles import DAWN, make_conversation, make_messages
from ..planted import PLANTED, Planted, plant

TOKEN = plant("Deploy with " + PLANTED["github personal"], "unasked")
LATE = plant(
    "The deploy job of the shop runs on every push to main and takes a while, " * 2
    + PLANTED["gitlab personal"],
    "unasked",
)
"""Where a line of a brief ends within the token."""


@pytest.fixture
def here(core: Core, tmp_path: Path) -> Core:
    project = tmp_path / "shop"
    project.mkdir()
    return Core(core.engine, Caller(project=str(project), directory=str(project)))


def leaks(text: str, planted: Planted) -> list[str]:
    """Secrets of which the text has half."""
    return [secret for secret in planted.secrets if secret[: len(secret) // 2] in text]


@pytest.mark.parametrize("planted", [TOKEN, LATE])
@pytest.mark.parametrize("category", ["decision", "task"])
def test_a_saved_token_is_in_no_brief_that_anybody_is_given(
    here: Core, planted: Planted, category: str
) -> None:
    caller_of(here)("context_save", key="deploy", value=planted.text, category=category)
    assert Briefs(here.engine).refresh() == 1
    (file,) = BriefFiles(here.engine.settings.home).all()
    told = [
        here.briefing.brief(max_tokens=600).text,
        here.briefing.opening("new", "startup"),
        here.briefing.opening("other", "compact"),
        file.read_text("utf-8"),
        read_resource(here, "backstory://brief")["contents"][0]["text"],
    ]
    assert all("redacted: git" in text for text in told)
    assert not [text for text in told if leaks(text, planted)]
    (item,) = caller_of(here)("context_get", key="deploy")["items"]
    assert item["value"] == planted.text


def test_a_token_that_was_kept_before_its_rule_existed_is_in_no_brief(here: Core) -> None:
    where = {"project": here.caller.project, "surface": "claude-code"}
    talk = make_conversation(
        "c:1", title=TOKEN.text, branch=f"fix/ghp_{TOKEN.secrets[0]}", updated_at=DAWN, **where
    )
    texts = (f"Let's go with {TOKEN.text}", f"Done.\n\nNext step: {TOKEN.text}")
    here.engine.store.conversations.add(talk, make_messages("c:1", *texts, **where), [])
    assert "redacted: github" in here.briefing.brief().text
    assert not leaks(here.briefing.brief().text, TOKEN)


def test_a_saved_token_is_in_no_handoff_and_goes_with_its_memory(here: Core) -> None:
    call = caller_of(here)
    call("init", working_directory=here.caller.project)
    call("store_reflection", content=f"TODO: {TOKEN.text}", tags=["todo"])
    call("store_reflection", content=f"Decided: {TOKEN.text}", tags=["decision"])
    file = Path(call("end")["handoff_file_path"])
    assert "Go on with: TODO: Deploy with" in file.read_text("utf-8")
    assert not leaks(file.read_text("utf-8"), TOKEN)
    begun = call("init", working_directory=here.caller.project)
    assert not leaks(str(begun), TOKEN)
    for memory in here.state.tasks(here.caller.project):
        here.forgetting.forget(memory.id, for_good=True)
    assert "Go on with" not in file.read_text("utf-8")
