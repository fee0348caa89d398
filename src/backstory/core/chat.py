"""Summaries by an OpenAI-compatible chat endpoint."""

from __future__ import annotations

from ..search.remote import Remote

READ = 20_000  # characters of a text that are sent
LONGEST = 400  # characters of a summary that are kept
TASK = (
    "Summarise the note of a software developer in one or two plain sentences, for a list of notes. "
    "Keep names, numbers and identifiers. Answer with the summary alone."
)


class ChatWriter:
    def __init__(self, remote: Remote, model: str) -> None:
        self._remote = remote
        self._model = model

    def write(self, text: str) -> str:
        question = {
            "model": self._model,
            "messages": [{"role": "system", "content": TASK}, {"role": "user", "content": text[:READ]}],
        }
        reply = self._remote.ask(question)
        try:
            written = " ".join(reply["choices"][0]["message"]["content"].split())
        except (TypeError, KeyError, IndexError, AttributeError) as error:
            raise self._remote.unavailable("sent no summary") from error
        if not written:
            raise self._remote.unavailable("sent an empty summary")
        return written[:LONGEST]
