"""Groups of an identity provider: the scope and the shared spaces that their members get."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..domain.errors import InvalidInput
from ..domain.scopes import Scope
from ..domain.team import SpaceRole, highest_role
from .tenants import check_name

SPACE = "space:"
_SCOPES = {scope.word: scope for scope in Scope if scope}


class GroupGrant(NamedTuple):
    """One `group=grant` of the setting `oauth_groups`."""

    group: str
    scope: Scope
    space: str
    """The space, or "" for a grant of a scope."""
    role: SpaceRole | None = None
    """The role in the space; None if the token's scope decides."""


class GroupGrants:
    def __init__(self, entries: Sequence[str]) -> None:
        """Raises InvalidInput for an entry that is not `group=read|write|admin` or `group=space:NAME[:ROLE]`."""
        self._grants = [_read_grant(entry) for entry in entries]
        self._limits_scope = any(grant.scope for grant in self._grants)

    def highest_scope(self, groups: Iterable[str]) -> Scope:
        """The scope of members of these groups. If no grant names a scope, groups do not limit scopes."""
        if not self._limits_scope:
            return Scope.ADMIN
        return max((grant.scope for grant in self._of(groups)), default=Scope.NONE)

    def granted_scope(self, groups: Iterable[str], scope: Scope, *, is_named: bool) -> Scope:
        """The scope of a token: that of the groups, which a scope named in the token can only narrow."""
        highest = self.highest_scope(groups)
        return min(scope, highest) if is_named or not self._limits_scope else highest

    def spaces(self, groups: Iterable[str]) -> list[str]:
        """Spaces in which the scope of the token is the role."""
        return [grant.space for grant in self._of(groups) if grant.space and grant.role is None]

    def roles(self, groups: Iterable[str]) -> dict[str, SpaceRole]:
        """The highest role that these groups grant in each space."""
        roles: dict[str, SpaceRole] = {}
        for grant in self._of(groups):
            if role := highest_role(grant.role, roles.get(grant.space)):
                roles[grant.space] = role
        return roles

    def _of(self, groups: Iterable[str]) -> list[GroupGrant]:
        members = set(groups)
        return [grant for grant in self._grants if grant.group in members]


def _read_grant(entry: str) -> GroupGrant:
    # the last "=": the group of a directory may be called "cn=ops,ou=groups"
    group, _, grant = (part.strip() for part in entry.rpartition("="))
    if group and grant.startswith(SPACE):
        space, _, word = grant.removeprefix(SPACE).partition(":")
        return GroupGrant(group, Scope.NONE, check_name(space, "oauth_groups"), _role(entry, word))
    if not group or grant not in _SCOPES:
        raise InvalidInput(
            f"oauth_groups has {entry!r}, which grants nothing.",
            hint="Use GROUP=read, GROUP=write, GROUP=admin, GROUP=space:NAME or GROUP=space:NAME:ROLE.",
            field="oauth_groups",
        )
    return GroupGrant(group, _SCOPES[grant], "")


def _role(entry: str, word: str) -> SpaceRole | None:
    if not word:
        return None
    if word not in list(SpaceRole):
        raise InvalidInput(
            f"oauth_groups has {entry!r}, and {word!r} is no role.",
            hint=f"Roles are {', '.join(SpaceRole)}.",
            field="oauth_groups",
        )
    return SpaceRole(word)
