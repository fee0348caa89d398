"""Conversations in worktrees that are gone, whose repository became known after they were read."""

from __future__ import annotations

from ...domain.filters import ConversationFilter
from ...domain.records import Conversation
from ...store import Store
from ..projects.identity import Identities, is_worktree


def join_worktrees(store: Store, identities: Identities) -> None:
    """Move them to their repository, with all that was said in them."""
    for project in filter(is_worktree, store.conversations.projects()):
        repository = identities.project_of(project, project)
        if repository != project:
            for conversation in store.conversations.find(ConversationFilter(projects=(project,))):
                with store.transaction():
                    _move(store, conversation, repository)


def _move(store: Store, conversation: Conversation, project: str) -> None:
    messages = [message._replace(project=project) for message in store.messages.of(conversation.id)]
    store.conversations.add(
        conversation._replace(project=project), messages, store.traces.of(conversation.id)
    )
