"""Measure whether context_semantic_search finds notes by questions in other words, and identifiers by name.

    python bench/paraphrases.py

40 notes are among few or many others. Each is searched by a question that shares few words with it, and 40
further notes by an identifier in them.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from backstory.core import Caller, Core, Engine
from backstory.search.minilm import MiniLM
from backstory.settings import Settings
from backstory.store.sqlite import SqliteStore
from backstory.surfaces import all_tools, load_surfaces

PAIRS = [
    ("JWT expires after 24 hours and refresh tokens rotate on every use.", "how long do users stay signed in"),
    ("We moved the nightly backup to 03:00 because it collided with the report job.", "when is the database copied for safety"),
    ("Chose PostgreSQL over MongoDB since our data is strongly relational.", "which storage engine did we pick and why"),
    ("The checkout page crashes on Safari when the cart is empty.", "bug in the shop on Apple browsers"),
    ("Retry failed webhooks five times with exponential backoff.", "what happens if a callback cannot be delivered"),
    ("Rate limit is 100 requests per minute per API key.", "how many calls may a client make"),
    ("All money amounts are stored as integer cents.", "how do we avoid floating point errors in prices"),
    ("Feature flags live in LaunchDarkly, owned by the platform team.", "where can I switch a capability on or off"),
    ("The memory leak came from event listeners never being removed.", "why did RAM usage keep growing"),
    ("Deployments to production need approval by two reviewers.", "who has to agree before we go live"),
    ("Passwords are hashed with Argon2id, 64 MB memory cost.", "how are login secrets protected at rest"),
    ("Docker images shrank from 1.2 GB to 180 MB after switching to Alpine.", "making containers smaller"),
    ("Users in Germany see dates as DD.MM.YYYY.", "localized calendar format for Europe"),
    ("The search index is rebuilt every six hours by a cron job.", "how stale can query results get"),
    ("Integration tests are flaky because they share one Redis instance.", "why does CI fail at random"),
    ("We dropped support for Internet Explorer 11 in March.", "oldest browser we still care about"),
    ("Uploads larger than 50 MB go straight to S3 with a presigned URL.", "handling big files from customers"),
    ("The websocket reconnects after three seconds with jitter.", "what does the client do when the live connection drops"),
    ("Logs are kept for 30 days and then deleted for GDPR.", "how long do we retain diagnostic output"),
    ("Anna owns the billing service; ask her before changing invoices.", "who is responsible for payments code"),
    ("Use snake_case for columns and plural names for tables.", "naming rules in the schema"),
    ("The mobile app caches the feed for offline reading.", "does it work without internet"),
    ("Kubernetes kills the pod when it needs more than 512 MiB.", "out of memory restarts in the cluster"),
    ("N+1 queries on the orders page were solved with a join.", "speeding up the purchase history view"),
    ("We render Markdown on the server and sanitize it with bleach.", "preventing script injection in comments"),
    ("Sprint planning moved to Tuesday at ten.", "what day do we organise upcoming work"),
    ("Sentry alerts go to the on-call channel in Slack.", "where do crash notifications arrive"),
    ("The GraphQL gateway merges the schemas of four services.", "single entry point for our APIs"),
    ("Dark mode follows the operating system unless the user overrides it.", "night theme behaviour"),
    ("CSV import skips rows with an invalid email and reports them.", "what if spreadsheet data has bad addresses"),
    ("Type checking with mypy strict is required in CI.", "are static annotations enforced"),
    ("The thumbnail worker uses libvips instead of ImageMagick, four times faster.", "resizing pictures quicker"),
    ("Two-factor login by TOTP is mandatory for administrators.", "extra security step for privileged accounts"),
    ("Migrations must be backward compatible for one release.", "can old code run against the new tables"),
    ("Soft-deleted accounts are purged after 90 days.", "when is a removed profile gone for good"),
    ("We pin dependencies with uv and update them every Monday.", "policy for upgrading third party libraries"),
    ("The recommendation model is retrained weekly on click data.", "how fresh is the suggestion algorithm"),
    ("Time zones: everything is UTC in the database, converted in the browser.", "handling clocks across countries"),
    ("Accessibility audit found missing labels on form inputs.", "problems for blind people using screen readers"),
    ("The legacy SOAP endpoint will be switched off at the end of the year.", "end of life for the old XML interface"),
]  # fmt: skip

SUBJECTS = [
    "invoice export", "user onboarding", "image pipeline", "chat widget", "audit trail", "coupon engine",
    "inventory sync", "mail templates", "report builder", "map view", "video player", "plugin loader",
    "license server", "tax calculator", "survey form", "calendar feed", "document viewer", "barcode scanner",
    "loyalty program", "translation editor",
]  # fmt: skip
REMARKS = [
    "The {} was reviewed by the design group.", "Open question: should the {} be optional?",
    "Refactored the {} into smaller modules.", "The {} needs better error messages.",
    "Added metrics for the {}.", "The {} depends on the shared component library.",
    "Customers asked for a faster {}.", "The {} is blocked by a vendor ticket.", "Wrote a README for the {}.",
    "The {} has 80 percent test coverage.", "Removed dead code from the {}.", "The {} is behind a beta switch.",
    "Moved the {} to its own repository.", "The {} fails when the list is empty.", "Demoed the {} to sales.",
    "The {} got a new icon set.", "Estimate for the {}: three days.", "The {} should log fewer warnings.",
    "Renamed the {} settings.", "The {} uses the old button style.", "Pair programming on the {} went well.",
    "The {} has a race on start.", "Postponed the {} to next quarter.", "The {} reads its options from YAML.",
]  # fmt: skip
IDENTIFIERS = [
    *(f"{prefix}-{1234 + 37 * place}" for place, prefix in enumerate(["AUTH", "PAY", "OPS", "WEB", "DATA"] * 4)),
    *(f"{verb}{noun}" for verb in ("get", "load", "parse", "render") for noun in ("UserName", "CartTotal", "AuthToken")),
    "max_retry_count", "user_session_id", "src/billing/tax.py", "ERR_CONN_4711", "v2.13.7", "node-sass@4.14",
    "10.0.12.7", "0xDEADBEEF",
]  # fmt: skip
NAMED = "Seen while working on the {}: {} needs another look."


def main() -> None:
    for others in (0, 60, 120, 240, 480):
        probe(others)


def probe(others: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        store = SqliteStore(Path(directory) / "store.db")
        engine = Engine(Settings(home=Path(directory), project=Path("/bench")), store, MiniLM())
        core = Core(engine, Caller(project="/bench"))
        tools = all_tools(load_surfaces(["memory-keeper"]))

        def call(tool: str, **arguments: Any) -> Any:
            return json.loads(tools[tool].call(core, arguments).text)

        notes = [remark.format(subject) for remark in REMARKS for subject in SUBJECTS][:others]
        named = [NAMED.format(SUBJECTS[at % len(SUBJECTS)], id) for at, id in enumerate(IDENTIFIERS)]
        for place, value in enumerate([*notes, *(note for note, _ in PAIRS), *named]):
            call("context_save", key=f"note_{place}", value=value)
        assert engine.backlog is not None
        engine.backlog.drain()
        began = time.process_time()
        by_meaning = [_place(call("context_semantic_search", query=query), note) for note, query in PAIRS]
        cpu_ms = (time.process_time() - began) * 1000 / len(PAIRS)
        by_name = [
            _place(call("context_semantic_search", query=id), note)
            for id, note in zip(IDENTIFIERS, named, strict=True)
        ]
        first_five, first = sum(place <= 5 for place in by_meaning), by_meaning.count(1)
        found = f"{first_five} of {len(PAIRS)} in the first five, {first} first"
        print(f"paraphrases among {len(notes)} other notes: {found}, {cpu_ms:.1f} ms CPU for a query")
        print(f"identifiers among {len(notes)} other notes: {by_name.count(1)} of {len(IDENTIFIERS)} first")
        for (_, query), place in zip(PAIRS, by_meaning, strict=True):
            if place > 5:
                print(f"  missed: {query}")
        for id, place in zip(IDENTIFIERS, by_name, strict=True):
            if place > 1:
                print(f"  not first: {id}")
        engine.close()


def _place(answer: Any, value: str) -> int:
    values = [result["value"] for result in answer["results"]]
    return values.index(value) + 1 if value in values else 99


if __name__ == "__main__":
    main()
