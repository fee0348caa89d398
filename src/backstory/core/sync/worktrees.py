"""Conversations in deleted worktrees whose repository became known after they were imported."""

from __future__ import annotations

from ...domain.filters import ConversationFilter
from ...domain.records import Conversation
from ...store import Store
from ..projects.identity import Identities, is_worktree
from .transactions import ShortTransactions

PLACES_AT_ONCE = 200  # messages read at a time


def join_worktrees(store: Store, identities: Identities) -> None:
    """Move these conversations, with their messages, to their repository."""
    for project in filter(is_worktree, store.conversations.projects()):
        repository = identities.project_of(project, project)
        if repository != project:
            for conversation in store.conversations.find(ConversationFilter(projects=(project,))):
                with ShortTransactions(store) as transactions:
                    _move(store, conversation, repository, transactions)


def _move(store: Store, conversation: Conversation, project: str, transactions: ShortTransactions) -> None:
    """Move one conversation. Its own row is written last, so that an interrupted move is repeated."""
    id = conversation.id
    sayings, runs = store.sayings.of(id), store.runs.of(id)
    for start in range(0, store.messages.last_place(id) + 1, PLACES_AT_ONCE):
        places = range(start, start + PLACES_AT_ONCE)
        messages = [each._replace(project=project) for each in store.messages.of(id, places)]
        ids = {message.id for message in messages}
        store.conversations.add(
            conversation,
            messages,
            store.traces.of(id, places),
            [each for each in sayings if each.message in ids],
            store.results.of(id, places),
            [each for each in runs if each.message in ids],
        )
        transactions.spend(len(messages), sum(len(message.text) for message in messages))
        transactions.rest()
    store.conversations.add(conversation._replace(project=project), [], [])
