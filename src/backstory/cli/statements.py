"""`backstory statements`: decisions, abandoned attempts, open items, checks and changes in a project's conversations."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import closing

from ..app import open_core
from ..core import Core
from ..core.names import ConversationNames
from ..core.statements.files import files_by_statement
from ..core.uncommitted import uncommitted
from ..domain.errors import InvalidInput
from ..domain.statements import Statement, StatementKind
from ..domain.when import iso, parse_when
from ..settings import Settings
from ..tools.origin import safe_excerpt
from .narrowing import add_project
from .report import Block, Json, Paragraph, Report, Span, Style, terminal_line

MAX_TEXT_CHARS = 300
MARKDOWN = "md"
MAX_LISTED_PROJECTS = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument("--kind", metavar="KIND", help=f"only one of {', '.join(StatementKind)}")
    parser.add_argument("--all", action="store_true", help="include statements that are no longer in force")
    parser.add_argument("--as-of", metavar="DATE", help="show the statements in force at that time")
    parser.add_argument(
        "--format", choices=("text", MARKDOWN), default="text", help="md prints a decision log in Markdown"
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    if options.kind and options.kind not in list(StatementKind):
        raise InvalidInput(
            f"There is no kind {options.kind!r}.", hint=f"Known: {', '.join(StatementKind)}.", field="kind"
        )
    with closing(open_core(settings)) as core:
        project = project_of(core, options.name)
        until = parse_when(options.as_of, core.engine.now(), field="as_of") if options.as_of else None
        state = core.state.of(project, until=until)
        left = uncommitted(core, project, state) if until is None else None
        statements = [*([left[0]] if left else []), *reversed(state.statements)]
        names = core.browsing.names()
        listed = [
            each
            for each in statements
            if (options.all or each.holds) and options.kind in (None, each.kind.value)
        ]
        files = files_by_statement(core.engine, listed)
    if left:
        files[left[0].id] = left[1]
    body = {"project": project, "statements": [_body(each, files[each.id]) for each in listed]}
    superseding = {each.superseded_by for each in listed}
    later = {each.id: _name(each, names) for each in statements if each.id in superseding}
    write = _markdown if options.format == MARKDOWN else _blocks
    return Report(body, write(listed, later, names))


def project_of(core: Core, name: str | None) -> str:
    """The project with a name or directory; without one, that of the caller."""
    if name is None:
        return core.caller.project
    projects = core.browsing.projects(name)
    if len(projects) > 1:
        raise InvalidInput(
            f"{len(projects)} projects are called {name!r}: {', '.join(projects[:MAX_LISTED_PROJECTS])}.",
            hint="Give the path of one.",
            field="project",
        )
    return projects[0]


def _body(each: Statement, files: Sequence[str]) -> Json:
    return {
        "id": each.id,
        "kind": each.kind.value,
        "text": safe_excerpt(each.text),
        "reason": safe_excerpt(each.reason),
        "state": each.state.value,
        "speaker": each.speaker.value,
        "at": iso(each.at),
        "conversation": each.conversation,
        "message": each.message or None,
        "files": list(files),
        "confirmations": each.confirmations,
        "superseded_by": each.superseded_by or None,
    }


def _blocks(
    statements: Sequence[Statement], later: Mapping[str, str], names: ConversationNames
) -> list[Block]:
    if not statements:
        return [
            "No statements. `backstory sync` reads new conversations; --all also lists superseded and finished ones."
        ]
    blocks: list[Block] = []
    for kind in StatementKind:
        chosen = [each for each in statements if each.kind is kind]
        if not chosen:
            continue
        blocks += [""] if blocks else []
        blocks.append(Paragraph([Span(kind.value.replace("_", " ").capitalize(), Style.HEADING)]))
        blocks += [_line(each, later, names) for each in chosen]
    return blocks


def _line(each: Statement, later: Mapping[str, str], names: ConversationNames) -> Paragraph:
    source = Span(_name(each, names), Style.ID)
    about = Span(f"{each.at:%Y-%m-%d}{_marks(each, later)}", Style.QUIET)
    return Paragraph(
        [source, " ", about, " ", terminal_line(safe_excerpt(each.text), MAX_TEXT_CHARS)], indent=2
    )


def _name(each: Statement, names: ConversationNames) -> str:
    return f"{names.short(each.conversation)}#{each.place + 1}"


def _marks(each: Statement, later: Mapping[str, str]) -> str:
    """`later` has, by id, the names of statements that superseded others."""
    by = f" by {later[each.superseded_by]}" if each.superseded_by in later else ""
    state = "" if each.holds else f" ({each.state.value}{by})"
    return f"{state} (said {each.confirmations + 1} times)" if each.confirmations else state


def _markdown(statements: Sequence[Statement], later: Mapping[str, str], names: ConversationNames) -> str:
    lines = [
        f"- {each.at:%Y-%m-%d} **{each.kind.value}**{_marks(each, later)}: {safe_excerpt(each.text)}"
        f" ({_name(each, names)})"
        for each in statements
    ]
    return "\n".join(("# Decision log", "", *(lines or ["No statements."])))
