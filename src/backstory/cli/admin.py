"""`backstory admin`: members of shared spaces, review, and the tenants of a team server, on the server's own machine."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import NamedTuple

from ..app import CONTROL, find_spaces, open_store
from ..domain.errors import InvalidInput, NotFound
from ..domain.team import SpaceMember, SpaceRole
from ..domain.when import iso, utc_now
from ..server.tenants import check_name, shared
from ..settings import Settings
from .erasure import erase_now, list_erasures
from .report import Report, table
from .tenants import delete_tenant, export_tenant, limit_tenant, list_tenants, measure_tenants

NO_MEMBERS = "No space has members. Tokens and groups open spaces without them."


class AdminAction(NamedTuple):
    words: str
    """The arguments, as the help shows them."""
    about: str
    run: Callable[[argparse.Namespace, Settings], Report]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("subject", choices=SUBJECTS, metavar="SUBJECT", help=", ".join(SUBJECTS))
    lines = "; ".join(f"{name} {each.words}".rstrip() for name, each in ACTIONS.items())
    parser.add_argument("words", nargs="*", metavar="WORD", help=lines)
    parser.add_argument(
        "--role",
        choices=list(SpaceRole),
        default=SpaceRole.WRITER,
        help="members add: role of the member (default: writer)",
    )
    parser.add_argument("--yes", action="store_true", help="tenants delete: do not ask")


def run(options: argparse.Namespace, settings: Settings) -> Report:
    verb, *rest = options.words or ["list"]
    action = ACTIONS.get(f"{options.subject} {verb}")
    if action is None:
        verbs = [name.split()[1] for name in ACTIONS if name.split()[0] == options.subject]
        raise InvalidInput(
            f"There is no `backstory admin {options.subject} {verb}`.",
            hint=f"Use one of {', '.join(verbs)}.",
            field="words",
        )
    options.words = rest
    return action.run(options, settings)


def arguments(options: argparse.Namespace, *names: str, optional: int = 0) -> list[str]:
    """The words after the action, one for each name. The last `optional` may be missing, and are empty then."""
    words: Sequence[str] = options.words
    if not len(names) - optional <= len(words) <= len(names):
        raise InvalidInput(f"This takes {' '.join(names)}.", hint="`backstory admin --help` shows all.")
    return [*words, *[""] * (len(names) - len(words))]


def _list_members(options: argparse.Namespace, settings: Settings) -> Report:
    (space,) = arguments(options, "SPACE", optional=1)
    if CONTROL not in find_spaces(settings):  # a look makes no store
        return Report({"members": []}, NO_MEMBERS)
    with closing(open_store(settings, CONTROL)) as control:
        members = control.team.members(space or None)
    rows = [(each.space, each.person, each.role, iso(each.added_at)[:10]) for each in members]
    body = [{"space": each.space, "user": each.person, "role": each.role} for each in members]
    return Report(
        {"members": body}, table([("space", "user", "role", "since"), *rows]) if rows else NO_MEMBERS
    )


def _add_member(options: argparse.Namespace, settings: Settings) -> Report:
    space, person = arguments(options, "SPACE", "USER")
    check_name(space, "space")
    member = SpaceMember(space, person, options.role, utc_now())
    with closing(open_store(settings, CONTROL)) as control:
        control.team.put_member(member)
    return Report(
        {"space": space, "user": person, "role": member.role}, f"{person} is a {member.role} of {space}."
    )


def _remove_member(options: argparse.Namespace, settings: Settings) -> Report:
    space, person = arguments(options, "SPACE", "USER")
    with closing(open_store(settings, CONTROL)) as control:
        if not control.team.remove_member(space, person):
            raise NotFound("member", f"{person} of {space}", hint="`backstory admin members` lists them.")
    text = f"{person} is no member of {space} any more. Tokens and groups that name the space still open it."
    return Report({"space": space, "user": person}, text)


def _review(is_reviewed: bool) -> Callable[[argparse.Namespace, Settings], Report]:
    def change(options: argparse.Namespace, settings: Settings) -> Report:
        (space,) = arguments(options, "SPACE")
        tenant = shared(check_name(space, "space"))
        with closing(open_store(settings, CONTROL)) as control:
            control.team.put_settings(control.team.settings_of(tenant)._replace(is_reviewed=is_reviewed))
        text = (
            f"What writers save in {space} is proposed, and a maintainer accepts or dismisses it."
            if is_reviewed
            else f"Writers of {space} save directly. Proposals that wait still want a decision."
        )
        return Report({"space": space, "review": is_reviewed}, text)

    return change


def _list_reviews(options: argparse.Namespace, settings: Settings) -> Report:
    arguments(options)
    spaces = []
    if CONTROL in find_spaces(settings):
        with closing(open_store(settings, CONTROL)) as control:
            every = control.team.all_settings().values()
        spaces = [each.tenant.removeprefix(shared("")) for each in every if each.is_reviewed]
    return Report({"reviewed": spaces}, "\n".join(spaces) or "No space asks for review.")


def _with_words(
    run: Callable[[list[str], argparse.Namespace, Settings], Report], *names: str, optional: int = 0
) -> Callable[[argparse.Namespace, Settings], Report]:
    """An action of another module, with the words that it takes."""
    return lambda options, settings: run(arguments(options, *names, optional=optional), options, settings)


ACTIONS: dict[str, AdminAction] = {
    "members list": AdminAction("[SPACE]", "list members and their roles", _list_members),
    "members add": AdminAction("SPACE USER", "add a member, or change their role", _add_member),
    "members remove": AdminAction("SPACE USER", "remove a member", _remove_member),
    "review list": AdminAction("", "list spaces that ask for review", _list_reviews),
    "review on": AdminAction("SPACE", "writers propose, maintainers accept", _review(True)),
    "review off": AdminAction("SPACE", "writers save directly", _review(False)),
    "tenants list": AdminAction("", "list tenants and their limits", _with_words(list_tenants)),
    "tenants size": AdminAction(
        "[TENANT]", "measure one tenant, or all", _with_words(measure_tenants, "TENANT", optional=1)
    ),
    "tenants export": AdminAction(
        "TENANT FILE", "copy a tenant into a new file of SQLite", _with_words(export_tenant, "TENANT", "FILE")
    ),
    "tenants delete": AdminAction("TENANT", "delete a tenant for good", _with_words(delete_tenant, "TENANT")),
    "tenants quota": AdminAction(
        "TENANT MB|none",
        "limit the size of a tenant",
        _with_words(limit_tenant("max_store_mb", "MB"), "TENANT", "MB"),
    ),
    "tenants retention": AdminAction(
        "TENANT DAYS|none",
        "archive what is older in a tenant",
        _with_words(limit_tenant("retention_days", "days"), "TENANT", "DAYS"),
    ),
    "erasure list": AdminAction(
        "", "list tenants with bytes of deleted texts to overwrite", _with_words(list_erasures)
    ),
    "erasure now": AdminAction("", "overwrite them now; other calls wait", _with_words(erase_now)),
}
SUBJECTS = tuple(dict.fromkeys(name.split()[0] for name in ACTIONS))
