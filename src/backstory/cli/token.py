"""`backstory token`: make, list and revoke the tokens of a team server."""

from __future__ import annotations

import argparse
from contextlib import closing
from datetime import timedelta

from ..app import CONTROL, find_spaces, open_store
from ..core.engine import new_id
from ..domain.errors import InvalidInput, NotFound
from ..domain.scopes import Scope
from ..domain.team import Token
from ..domain.when import iso, utc_now
from ..server.auth import make_token
from ..server.tenants import check_name
from ..settings import Settings
from ..store import Store
from .numbers import days
from .report import Json, Report, table

NONE = "There are no tokens."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=list(_ACTIONS), default="list", help="action (default: list)"
    )
    parser.add_argument("id", nargs="?", help="revoke: id of the token, as shown by list")
    parser.add_argument(
        "--user", help="create: name of the user; all tokens of a user open the same memories"
    )
    scopes = [scope.word for scope in Scope if scope]
    parser.add_argument(
        "--scope", choices=scopes, default="write", help="create: permissions of the token (default: write)"
    )
    parser.add_argument(
        "--space", action="append", default=[], help="create: a shared space; can be repeated"
    )
    parser.add_argument(
        "--expires", type=days, metavar="DAYS", help="create: lifetime in days (default: unlimited)"
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    _check(options)
    if options.action != "create" and CONTROL not in find_spaces(settings):
        if options.action == "list":  # a look makes no store
            return Report({"tokens": []}, NONE)
        raise NotFound("token", options.id, hint=NONE)
    with closing(open_store(settings, CONTROL)) as control:
        return _ACTIONS[options.action](options, control)


def _check(options: argparse.Namespace) -> None:
    """Before anything is opened: a slip makes no store."""
    if options.action == "revoke" and not options.id:
        raise InvalidInput(
            "The id of the token is missing.", hint="`backstory token list` shows their ids.", field="id"
        )
    if options.action == "create":
        if options.user is None:
            hint = "Such as: backstory token create --user ann"
            raise InvalidInput("--user is missing.", hint=hint, field="user")
        check_name(options.user, "user")
        for space in options.space:
            check_name(space, "space")


def _create(options: argparse.Namespace, control: Store) -> Report:
    now = utc_now()
    secret, token = make_token(
        options.user,
        Scope[options.scope.upper()],
        options.space,
        id=new_id(),
        now=now,
        until=now + timedelta(days=options.expires) if options.expires else None,
    )
    control.team.add_token(token)
    text = f"{secret}\n\nThis is the only time it is shown. Its id, to revoke it, is {token.id}."
    return Report({"token": secret, **_described(token)}, text)


def _list(options: argparse.Namespace, control: Store) -> Report:
    tokens = control.team.tokens()
    rows = [(token.id, token.person, token.scope, _state(token), ", ".join(token.spaces)) for token in tokens]
    text = table([("id", "user", "scope", "state", "spaces"), *rows]) if rows else NONE
    return Report({"tokens": [_described(token) for token in tokens]}, text)


def _revoke(options: argparse.Namespace, control: Store) -> Report:
    if not control.team.revoke(options.id, utc_now()):
        raise NotFound("token", options.id, hint="`backstory token list` shows them.")
    return Report({"id": options.id, "state": "revoked"}, f"Revoked {options.id}.")


_ACTIONS = {"create": _create, "list": _list, "revoke": _revoke}


def _state(token: Token) -> str:
    if token.is_valid(utc_now()):
        return "valid"
    return "revoked" if token.revoked_at else "expired"


def _described(token: Token) -> Json:
    return {
        "id": token.id,
        "user": token.person,
        "scope": token.scope,
        "spaces": list(token.spaces),
        "created_at": iso(token.created_at),
        "expires_at": iso(token.expires_at) if token.expires_at else None,
        "state": _state(token),
    }
