"""Text in a person's name that no person wrote, and data that is not text."""

from __future__ import annotations

from collections.abc import Iterable

from ...domain.lazy import lazy_pattern

CLAUDE = (
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "Caveat: The messages below",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<teammate-message",
    "<user-memory-input>",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
    "Stop hook feedback:",
    "<ci-monitor-event>",
)
CODEX = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions for", "<permissions instructions>",
    "<skills_instructions>", "<apps_instructions>", "<plugins_instructions>", "<recommended_plugins>",
    "<collaboration_mode>", "<app-context>", "<skill>", "<subagent_notification>", "<turn_aborted>", "<user_action>",
    "<user_shell_command>", "<image name=", "</image>",
)  # fmt: skip

MAX_NOISE_CHARS = 2_000
"""Maximum number of characters stored of text that no person wrote: injected prompts, and messages of failed tools."""
LONGEST_RUN = 512
_DATA_URI = lazy_pattern(r"data:[\w/+.-]+;base64,[A-Za-z0-9+/=]+")
_BASE64 = lazy_pattern(rf"[A-Za-z0-9+/=]{{{LONGEST_RUN},}}")


def is_injected(text: str, prefixes: tuple[str, ...]) -> bool:
    """True if the text begins like one of the assistant's own messages."""
    return text.lstrip().startswith(prefixes)


def without_blocks(text: str, tags: Iterable[str]) -> str:
    """Remove `<tag>…</tag>`. A block that is never closed extends to the end."""
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        while (start := text.find(opening)) >= 0:
            end = text.find(closing, start)
            text = text[:start] + ("" if end < 0 else text[end + len(closing) :])
    return text.strip()


def without_payloads(text: str) -> str:
    """Remove data URIs and long base64 runs, which are never searched for and fill the index."""
    if ";base64," in text:
        text = _DATA_URI.sub("", text)
    return _BASE64.sub("", text) if len(text) >= LONGEST_RUN and _may_hold_run(text) else text


def _may_hold_run(text: str) -> bool:
    """True if one of the tested stretches has no whitespace.

    A long run covers one of the tested stretches, and prose has no such stretch."""
    half = LONGEST_RUN // 2
    for start in range(0, len(text) - half + 1, half):
        if text.find(" ", start, start + half) < 0 and text.find("\n", start, start + half) < 0:
            return True
    return False


def head_and_tail(text: str) -> str:
    """Return the head and tail of a long text: the cause of a failure is at either end."""
    if len(text) <= MAX_NOISE_CHARS:
        return text
    half = (MAX_NOISE_CHARS - 3) // 2
    return f"{text[:half]}\n…\n{text[-half:]}"
