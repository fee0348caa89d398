"""Bring the table of prices up to date with LiteLLM's, before a release.

    python scripts/write_prices.py model_prices_and_context_window.json VERSION

No row is ever deleted, or conversations with a model that is no longer sold would lose their costs; one whose price changed stays for the days before.
"""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[1] / "src/backstory/core/usage/prices.json"
PROVIDERS = frozenset(
    {
        "anthropic", "openai", "gemini", "vertex_ai-language-models", "xai", "deepseek", "moonshot", "zai", "mistral",
        "dashscope", "minimax", "groq", "cerebras", "github_copilot",
    }
)  # fmt: skip
RATES = {
    "in": "input_cost_per_token",
    "out": "output_cost_per_token",
    "read": "cache_read_input_token_cost",
    "write": "cache_creation_input_token_cost",
}
ABOVE = re.compile(rf"{RATES['in']}_above_(\d+)k_tokens")
Row = dict[str, Any]


def row_of(told: Row) -> Row:
    """A model of LiteLLM's table, in dollars for a million tokens."""
    row = _rates(told, "") | {
        "write_1h": _rate(told, f"{RATES['write']}_above_1hr"),
        "context": told.get("max_input_tokens"),
    }
    for key in told:
        if tier := ABOVE.fullmatch(key):
            row["above"] = {"tokens": int(tier[1]) * 1000} | _rates(told, f"_above_{tier[1]}k_tokens")
    return {name: value for name, value in row.items() if value is not None}


def _rates(told: Row, suffix: str) -> Row:
    return {ours: _rate(told, theirs + suffix) for ours, theirs in RATES.items()}


def _rate(told: Row, name: str) -> float | None:
    value = told.get(name)
    return round(value * 1e6, 6) if isinstance(value, int | float) else None


def chosen(table: dict[str, Row]) -> dict[str, Row]:
    """Chat models of known providers, by the name after the last slash; a name without a slash wins."""
    rows: dict[str, Row] = {}
    for name, told in table.items():
        is_chat = told.get("mode") in ("chat", "responses") and told.get("litellm_provider") in PROVIDERS
        key = name.rpartition("/")[2]
        if is_chat and told.get(RATES["in"]) and (key not in rows or "/" not in name):
            rows[key] = row_of(told)
    return rows


def merged(known: dict[str, Any], rows: dict[str, Row], day: str) -> dict[str, Any]:
    """The known models with the new rows. A former price applies until the day."""
    models = dict(known)
    for name, row in rows.items():
        former = models.get(name, [])
        former = former if isinstance(former, list) else [former]
        if former and former[-1] != row:
            former = [*former[:-1], {**former[-1], "until": day}]
            models[name] = [*former, row]
        elif not former:
            models[name] = row
    return dict(sorted(models.items()))


def main() -> None:
    source, version = sys.argv[1:3]
    table = json.loads(FILE.read_text("utf-8"))
    day = datetime.now(UTC).date().isoformat()
    models = merged(table["models"], chosen(json.loads(Path(source).read_text("utf-8"))), day)
    origin = re.sub(r"^LiteLLM [\w.]+", f"LiteLLM {version}", table["source"])
    written = table | {"source": origin, "date": day, "models": models}
    FILE.write_text(json.dumps(written, separators=(",", ":")), "utf-8")


if __name__ == "__main__":
    main()
