"""What optional parts need: how to install it, from a registry or into a checkout."""

from __future__ import annotations

from pathlib import Path


def install_hint(extra: str) -> str:
    """The command that installs an extra beside the package that runs."""
    checkout = Path(__file__).resolve().parents[3]
    is_checkout = (checkout / "pyproject.toml").is_file()
    return (
        f"pip install --editable '{checkout}[{extra}]'"
        if is_checkout
        else f"pip install 'backstory[{extra}]'"
    )
