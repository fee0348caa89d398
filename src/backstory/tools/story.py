"""The story of a file as JSON: what `backstory why --json` prints and the page of a file shows."""

from __future__ import annotations

from typing import Any

from ..domain.story import EventReference, FileStory, StoryEvent, label, notes
from ..domain.when import iso

Json = dict[str, Any]


def story_body(story: FileStory) -> Json:
    return {
        "path": story.path,
        "paths": list(story.paths),
        "total": story.total,
        "events": list(map(_event, story.events)),
        "readers": list(story.readers),
    }


def _event(event: StoryEvent) -> Json:
    return {
        "at": iso(event.at),
        "kind": event.kind.value,
        "label": label(event),
        "id": event.name,
        "text": event.text,
        "notes": notes(event),
        "reason": event.reason or None,
        "state": event.state or None,
        "superseded_by": _reference(event.superseded_by) if event.superseded_by else None,
        "supersedes": list(map(_reference, event.supersedes)),
        "confirmations": event.confirmations,
        "answers": event.answers or None,
        "edits": event.edits,
        "outcome": event.outcome or None,
        "session": event.conversation or None,
        "number": event.number or None,
        "memory": event.memory or None,
        "trust": event.trust.value,
        "by": event.author or None,
    }


def _reference(reference: EventReference) -> Json:
    return {"id": reference.name, "text": reference.text, "reason": reference.reason or None}
