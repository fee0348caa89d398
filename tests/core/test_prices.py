"""Prices: the shipped table, and how it is brought up to date without losing what models cost before."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from backstory.core.usage.prices import load_prices
from backstory.domain.usage import UsageSum

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "write_prices.py"
TOKEN = 1e-6


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_prices", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def used(model: str, day: int = 20_000, tier: int = 0) -> UsageSum:
    return UsageSum("codex", "/p", model, day, tier, 1, 1_000_000, 0, 0, 0, 0, 0, None, 0, 0)


def test_the_shipped_table_knows_models_by_their_name_and_guesses_none() -> None:
    prices = load_prices("")
    limits = prices.tier_limits
    assert prices.cost(used("claude-sonnet-4-5"), limits) == 3.0
    assert prices.cost(used("claude-sonnet-4-5-20250929"), limits) == 3.0
    assert prices.cost(used("anthropic/claude-sonnet-4-5"), limits) == 3.0
    assert prices.cost(used("claude-sonnet-4-5-turbo"), limits) is None
    assert prices.cost(used(""), limits) is None
    assert "LiteLLM" in prices.source


def test_a_price_above_a_limit_holds_for_calls_that_exceed_it() -> None:
    prices = load_prices("")
    limits = prices.tier_limits
    above = limits.index(272_000) + 1
    assert prices.cost(used("gpt-5.4", tier=above), limits) == 2 * (prices.cost(used("gpt-5.4"), limits) or 0)


def test_new_prices_leave_the_former_ones_for_the_days_before(script: ModuleType) -> None:
    told = {
        "mode": "chat",
        "litellm_provider": "openai",
        "input_cost_per_token": 2 * TOKEN,
        "output_cost_per_token": 8 * TOKEN,
        "input_cost_per_token_above_200k_tokens": 4 * TOKEN,
        "max_input_tokens": 1000,
    }
    image = told | {"mode": "image_generation"}
    rows = script.chosen({"openai/new": told, "drawing": image, "changed": told, "same": told})
    same = {"in": 2.0, "out": 8.0, "context": 1000, "above": {"tokens": 200_000, "in": 4.0}}
    assert rows["new"]["above"]["in"] == 4.0
    assert set(rows) == {"new", "changed", "same"}
    known = {"gone": {"in": 1.0}, "changed": {"in": 3.0}, "same": rows["same"]}
    models = script.merged(known, rows, "2026-05-06")
    assert models["gone"] == {"in": 1.0}
    assert models["changed"] == [{"in": 3.0, "until": "2026-05-06"}, rows["changed"]]
    assert models["same"] == rows["same"]
    assert {name: models["new"][name] for name in ("in", "out", "context")} == {
        name: same[name] for name in ("in", "out", "context")
    }
    assert script.merged(models, rows, "2026-07-08") == models
