"""Labels that a text gives itself."""

from __future__ import annotations

import pytest

from backstory.guests.session_mgmt.work.labels import TextLabel, labels


@pytest.mark.parametrize(
    ("text", "tags", "found"),
    [
        ("TODO: write it", [], {TextLabel.TASK}),
        ("- [ ] Next steps: write it", [], {TextLabel.TASK}),
        ("Write it", ["#Follow_Up"], {TextLabel.TASK}),
        ("Done: wrote it", [], {TextLabel.TASK}),
        ("We use SQLite", ["decision"], {TextLabel.DECISION}),
        ("Decided: we use SQLite", [], {TextLabel.DECISION}),
        ("The build fails", ["bug"], {TextLabel.ERROR}),
        ("The build failed and is fixed", ["bug"], set()),
        ("Use a lock", ["solution", "error"], {TextLabel.SOLUTION}),
        ("Outbox for all events", ["best practice"], {TextLabel.PATTERN}),
        ("Routing in this framework", ["next", "open", "auth"], set()),
        ("Key insight: rotate tokens", ["jwt"], set()),
        ("http://example.com has it", [], set()),
        ("", [], set()),
    ],
)
def test_a_tag_or_the_opening_names_it(text: str, tags: list[str], found: set[TextLabel]) -> None:
    assert labels(text, tags) == found
