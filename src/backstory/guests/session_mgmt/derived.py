"""Data that session-mgmt stores and that may quote memories."""

from __future__ import annotations

from .work.handoff import HandoffDerivation

derivations = (HandoffDerivation(),)
