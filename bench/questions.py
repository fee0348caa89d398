"""Questions over real coding histories, asked through the product's tools and its command line.

    python bench/questions.py QUESTIONS_DIRECTORY WORK_DIRECTORY [STATE ...] [--haystacks N --make-haystack SCRIPT DIRECTORY]

QUESTIONS_DIRECTORY holds the set with its own layout, scorer and baselines; they are used as they are, so that we do not
mark our own work. Each state is a store of the same histories: `none` right after the sync, without vectors; `tenth`
with those of the tenth of the texts that the background embeds first; `all`. Nothing is embedded while it is asked. For
`recall_conversations`, which looks back 60 days, a copy of each store has its times pressed into the last 50; questions about times
are asked of the store with its own, at their own moment: pressed times answer none of them.
What `backstory search` prints is made in one process, and for every 40th question compared with what the command prints.
Plain FTS5 BM25 and MiniLM alone are measured over the same messages in the same run, and BM25 over all that is in the
store, too: no tool may be below it in any state. `--haystacks N` puts N copies of other people's work around the
questions; SCRIPT is called with DIRECTORY, the home and N. Long questions are the first 1,500 characters of each conversation that answers
one: that conversation, or one that holds the same messages, is to be found.
"Message first" and "answer shown" go by the set's quotes of the answers: the message of the first result is one that holds a quote, and what is shown of
a right conversation, anywhere on the page, holds at least SHOWN_SHARE of the words of one.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from backstory.app import open_core, read_settings
from backstory.cli import search as command
from backstory.core.ask import Inquiry
from backstory.domain.words import STOP_WORDS

Json = dict[str, Any]
Ask = Callable[[Json], Json]

STATES = ("none", "tenth", "all")
PAGE = 5
CHECKED = 40  # of so many questions one is also asked of the command itself
LONG_QUESTION, SHORTEST_COPY = 1_500, 120  # characters
SHOWN_SHARE = 0.6  # of the words of a quote: a passage may cut its first or last word
BASELINES = ("bm25-question", "bm25-keywords", "minilm-question", "rrf-question")
_RECALLED = re.compile(r"^(\S+)#(\d+)  \d{4}-", re.MULTILINE)


class Stop(Exception):
    """Enough texts have their vectors."""


class Questions:
    """The set in a directory, and a place to work."""

    def __init__(self, directory: Path, work: Path, haystack: Sequence[str] = ()) -> None:
        sys.path.insert(0, str(directory))
        self.directory, self.work = directory, work
        self.theirs = importlib.import_module("run_backstory")
        self.scorer = importlib.import_module("score")
        lines = (directory / "questions.jsonl").read_text("utf-8").splitlines()
        self.rows: list[Json] = [json.loads(line) for line in lines]
        self.clock = work / "clock"
        self.haystack = haystack
        """A command that adds other work to the home that it is given, and how many copies of it."""

    def environment(self, store: str) -> dict[str, str]:
        foreign = ("BACKSTORY_", "CLAUDE", "CODEX", "COPILOT")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        return {
            **inherited,
            **self.theirs.layout.environment(self.work / "home"),
            "TZ": "UTC",
            "QUESTIONS_CLOCK": str(self.clock),
            "QUESTIONS_FREEZE": "1",
            "BACKSTORY_HOME": str(self.work / store),
        }

    def frozen(self, *arguments: str) -> list[str]:
        return [sys.executable, str(self.directory / "frozen.py"), *arguments]

    def prepare(self) -> None:
        """A home and the stores; what is there already is used."""
        home, histories = self.work / "home", self.directory.parent / "histories"
        if not home.exists():
            self.theirs.layout.lay_out(histories, home, self.directory / "synthetic")
            # Aider makes a repository of every project; a history outside of one counts as words that came with the project
            for project in (home / "projects").iterdir():
                subprocess.run(["git", "init", "--quiet", str(project)], check=True)
            if self.haystack:
                *command, copies = self.haystack
                subprocess.run([sys.executable, *command, str(home), copies], check=True)
        (self.work / "cwd").mkdir(exist_ok=True)
        if not (self.work / "none").exists():
            subprocess.run(
                [sys.executable, "-m", "backstory", "sync", "--json"],
                env=self.environment("none") | {"BACKSTORY_EMBEDDINGS": "off"},
                cwd=self.work / "cwd",
                check=True,
                stdout=subprocess.DEVNULL,
            )
        self._copy("none", "tenth", lambda path: embed_share(path, 0.1))
        self._copy("none", "all", lambda path: embed_share(path, 1.0))
        for state in STATES:
            self._copy(state, f"{state}-recent", lambda path: self.theirs.press(path / "store.db"))
        self._name_answers()

    def _name_answers(self) -> None:
        """Put the product's ids of the messages that hold the quotes into the questions: assistants number messages
        in other ways than we do."""
        store = sqlite3.connect(f"file:{self.work / 'none' / 'store.db'}?mode=ro", uri=True)
        messages: dict[str, list[tuple[str, str]]] = {}
        for id, talk, text in store.execute(
            "SELECT id, thread, text FROM entry WHERE kind = 'message' AND role IN ('user', 'assistant')"
        ):
            messages.setdefault(self.theirs.canonical(talk), []).append((id, " ".join(text.split())))
        for evidence in (each for row in self.rows for each in row["evidence"]):
            quote = " ".join(evidence["quote"].split())
            held = [id for id, text in messages.get(evidence["conversation"], ()) if quote in text]
            evidence["messages"] = [*evidence["messages"], *map(self.theirs.canonical, held)]

    def _copy(self, source: str, target: str, change: Callable[[Path], None]) -> None:
        if not (self.work / target).exists():
            shutil.copytree(self.work / source, self.work / target)
            change(self.work / target)

    def messages(self, results: Sequence[Json]) -> Json:
        """A ranking of conversations and of their places, as the scorer wants it."""
        ids = [
            self.theirs.canonical(result["id"]).split("#tool")[0].split("#thinking")[0] for result in results
        ]
        talks = [
            self.theirs.canonical(result["conversation_id"])
            if result.get("conversation_id")
            else id.rpartition("/")[0]
            for result, id in zip(results, ids, strict=True)
        ]
        texts = [result.get("text") or result.get("content") or "" for result in results]
        return {
            "ranked": list(dict.fromkeys(talks)),
            "messages": ids,
            "shown": [*zip(talks, texts, strict=True)],
        }

    def run(self, name: str, ask: Ask, *, at_now: bool) -> Json:
        """Ask all questions; those about times with the clock at their own moment, where the store has its own times."""
        answers = {}
        for row in self.rows:
            is_then = row["kind"] == "temporal" and not at_now
            self.clock.write_text(row["now"] if is_then else datetime.now(UTC).isoformat())
            answers[row["id"]] = ask(row)
        return self.report(name, answers)

    def report(self, name: str, answers: Mapping[str, Json]) -> Json:
        result: Json = self.scorer.score(self.rows, answers)
        whole = result["kinds"]["all"]
        talks, places = whole["conversations"], whole.get("messages", {})
        cells = [
            name,
            f"{talks['hit@1']:.3f} / {talks['hit@5']:.3f}",
            f"{places['hit@1']:.2f}" if places else "–",
            self._share_shown(answers),
            f"{result['distractor_first_synthetic']:.2f}",
            f"{result['distractor_first_real']:.2f}",
            f"{result['nothing_found']:.2f}",
            str(result["tokens"] or "–"),
        ]
        print("| " + " | ".join(cells) + " |", flush=True)
        halves = [self.scorer.score(half, answers)["kinds"]["all"]["conversations"] for half in self.halves()]
        said = ", ".join(f"{half['hit@1']:.3f} / {half['hit@5']:.3f}" for half in halves)
        print(f"  halves of {name}: {said}", file=sys.stderr, flush=True)
        return result

    def _share_shown(self, answers: Mapping[str, Json]) -> str:
        if not any("shown" in answer for answer in answers.values()):
            return "–"
        return f"{mean(holds_answer(row, answers[row['id']].get('shown', ())) for row in self.rows):.2f}"

    def halves(self) -> tuple[list[Json], list[Json]]:
        """Questions on one conversation are in the same half; constants are tuned on the first half."""
        by_talk: dict[str, list[Json]] = {}
        for row in self.rows:
            by_talk.setdefault(min((*row["conversations"], *row.get("parents", ()))), []).append(row)
        halves: tuple[list[Json], list[Json]] = ([], [])
        for some in sorted(by_talk.values(), key=lambda some: (-len(some), some[0]["id"])):
            min(halves, key=len).extend(some)
        return halves


def keywords(row: Json) -> str:
    return row["keywords"] if isinstance(row["keywords"], str) else " ".join(row["keywords"])


def holds_answer(row: Json, shown: Sequence[tuple[str, str]]) -> bool:
    """Return whether the shown text of the right conversations contains one of the question's quotes."""
    right = {*row["conversations"], *row.get("parents", ())}
    words = {word for talk, text in shown if talk in right for word in re.findall(r"\w+", text.lower())}
    quotes = [{*re.findall(r"\w+", each["quote"].lower())} - STOP_WORDS for each in row["evidence"]]
    return any(len(quote & words) >= SHOWN_SHARE * len(quote) for quote in quotes)


def embed_share(home: Path, share: float) -> None:
    """In the order of the background."""
    core = open_core(read_settings({"home": home}))
    backlog = core.engine.backlog
    assert backlog is not None
    most = share * core.engine.store.vectors.count_waiting(backlog.space)

    def progress(done: int) -> None:
        if done >= most:
            raise Stop

    try:
        backlog.drain(progress)
    except Stop:
        pass
    finally:
        core.close()


def baselines(questions: Questions) -> None:
    out = questions.work / "baselines"
    command = [sys.executable, str(questions.directory / "run_bm25.py"), "--out", str(out), "--minilm"]
    subprocess.run([*command, "--vectors", str(questions.work / "minilm.npz")], check=True)
    for name in BASELINES:
        lines = (out / f"{name}.jsonl").read_text("utf-8").splitlines()
        questions.report(name, {answer["id"]: answer for answer in map(json.loads, lines)})


class StoreBM25:
    """Plain FTS5 BM25 over every message of a store: conversations in the order of their best message."""

    def __init__(self, questions: Questions, home: Path) -> None:
        self._canonical = questions.theirs.canonical
        self._store = sqlite3.connect(f"file:{home / 'store.db'}?mode=ro", uri=True)
        self._index = sqlite3.connect(":memory:")
        self._index.execute(
            "CREATE VIRTUAL TABLE message USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        rows = self._store.execute("SELECT n, text FROM entry WHERE kind = 'message'")
        self._index.executemany("INSERT INTO message (rowid, text) VALUES (?, ?)", rows)
        self._talks = dict(self._store.execute("SELECT n, thread FROM entry WHERE kind = 'message'"))

    def ask(self, text: str) -> Json:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", text.lower())))
        sql = "SELECT rowid FROM message WHERE message MATCH ? ORDER BY bm25(message) LIMIT 200"
        found = [self._talks[n] for (n,) in self._index.execute(sql, [words])]
        return {"ranked": [*dict.fromkeys(map(self._canonical, found))][:50]}

    def long_questions(self, rows: Sequence[Json]) -> list[Json]:
        """The beginnings of the conversations that answer, with all that hold one of their messages."""
        talks: dict[str, str] = {}
        for (talk,) in self._store.execute("SELECT DISTINCT thread FROM entry WHERE kind = 'message'"):
            talks.setdefault(self._canonical(talk), talk)
        parents = {id: row.get("parents", []) for row in rows for id in row["conversations"]}
        questions = []
        said = (
            "SELECT text FROM entry WHERE thread = ? AND role IN ('user', 'assistant') ORDER BY seq LIMIT 30"
        )
        for id in sorted(parents.keys() & talks.keys()):
            texts = [text for (text,) in self._store.execute(said, [talks[id]])]
            question = "\n".join(texts)[:LONG_QUESTION]
            copied = [
                text for text in texts if len(text) >= SHORTEST_COPY and text[:SHORTEST_COPY] in question
            ]
            same = {
                self._canonical(talk)
                for text in copied
                for (talk,) in self._store.execute("SELECT DISTINCT thread FROM entry WHERE text = ?", [text])
            }
            # a subagent's parent speaks for it
            right = sorted({id, id.partition("/")[0], *same, *parents[id]})
            questions.append(
                {"id": id, "question": question, "kind": "long", "conversations": right, "evidence": []}
            )
        return questions


def measure_bm25(questions: Questions) -> None:
    index = StoreBM25(questions, questions.work / "none")
    questions.run("bm25 over the store, question", lambda row: index.ask(row["question"]), at_now=True)
    questions.run("bm25 over the store, keywords", lambda row: index.ask(keywords(row)), at_now=True)


def measure_long(questions: Questions, state: str) -> None:
    """As `recall` ranks them, beside BM25."""
    index = StoreBM25(questions, questions.work / state)
    rows = index.long_questions(questions.rows)
    core = open_core(read_settings({"home": questions.work / state}))
    setattr(core.engine.backlog, "wake", lambda: None)  # noqa: B010  (the state stays as it is)

    def ours(row: Json) -> Json:
        hits = core.ask.find(Inquiry(row["question"])).hits[:PAGE]
        return {"ranked": [questions.theirs.canonical(hit.conversation) for hit in hits if hit.conversation]}

    for name, ask in (
        (f"{state}: long questions", ours),
        ("bm25, long questions", lambda row: index.ask(row["question"])),
    ):
        answers = {row["id"]: ask(row) for row in rows}
        found = questions.scorer.score(rows, answers)["kinds"]["all"]["conversations"]
        print(
            f"| {name}, {len(rows)} | {found['hit@1']:.3f} / {found['hit@5']:.3f} | | | | | | |", flush=True
        )
    core.close()


def measure_tools(questions: Questions, state: str) -> None:
    cwd = questions.work / "cwd"
    server = questions.theirs.Server(questions.frozen("serve"), questions.environment(state), cwd)
    core = open_core(read_settings({"home": questions.work / state}))
    names = core.browsing.names()
    try:

        def reflect(row: Json, **least: float) -> Json:
            body, tokens = server.call("reflect_on_past", query=row["question"], limit=PAGE, **least)
            return {**questions.messages(body["results"]), "tokens": tokens}

        def recall(row: Json) -> Json:
            arguments = {"query": row["question"], "limit": PAGE}
            text = server.request("tools/call", {"name": "recall", "arguments": arguments})["content"][0][
                "text"
            ]
            found = [(names.find(name)[0], int(number)) for name, number in _RECALLED.findall(text)]
            read = core.engine.store.messages.said  # a passage that is shown may look like a result
            said = [one for id, n in found for one in read(id, first=n - 1, limit=1)]
            results = [{"id": one.id, "conversation_id": one.conversation} for one in said]
            blocks = zip(_RECALLED.findall(text), _RECALLED.split(text)[3::3], strict=True)
            shown = [(questions.theirs.canonical(names.find(name)[0]), block) for (name, _), block in blocks]
            return {**questions.messages(results), "shown": shown, "tokens": len(text) // 4}

        everything = partial(reflect, min_score=0)
        questions.run(f"{state}: reflect_on_past, min_score 0", everything, at_now=False)
        questions.run(f"{state}: reflect_on_past, default min_score", reflect, at_now=False)
        questions.run(f"{state}: recall", recall, at_now=False)
    finally:
        core.close()
        server.close()
    recent = questions.theirs.Server(questions.frozen("serve"), questions.environment(f"{state}-recent"), cwd)
    timed = questions.theirs.Server(questions.frozen("serve"), questions.environment(state), cwd)
    try:
        for field in ("question", "keywords"):

            def recall_conversations(row: Json, field: str = field) -> Json:
                asked = keywords(row) if field == "keywords" else row[field]
                server = timed if row["kind"] == "temporal" else recent
                body, tokens = server.call(
                    "recall_conversations", user_prompt=asked, days_lookback=60, min_score=0, limit=PAGE
                )
                ranked = [questions.theirs.canonical(talk["id"]) for talk in body["conversations"]]
                return {"ranked": ranked, "tokens": tokens}

            questions.run(f"{state}: recall_conversations, {field}", recall_conversations, at_now=False)
    finally:
        recent.close()
        timed.close()


def measure_command_line(questions: Questions, state: str) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    core = open_core(read_settings({"home": questions.work / state}))
    assert core.engine.backlog is not None
    setattr(core.engine.backlog, "wake", lambda: None)  # noqa: B010  (the state stays as it is)
    core.engine.now = lambda: datetime.fromisoformat(questions.clock.read_text()).astimezone(UTC)

    def search(row: Json) -> Json:
        report = command.report(core, parser.parse_args([row["question"]]))
        printed = json.dumps(report.body, ensure_ascii=False)
        if questions.rows.index(row) % CHECKED == 0:
            assert printed_by_command(questions, state, row) == json.loads(printed)
        return {**questions.messages(report.body["results"]), "tokens": len(printed) // 4}

    try:
        questions.run(f"{state}: backstory search", search, at_now=False)
    finally:
        core.close()


def printed_by_command(questions: Questions, state: str, row: Json) -> Any:
    done = subprocess.run(
        questions.frozen("search", "--json", row["question"]),
        env=questions.environment(state),
        cwd=questions.work / "cwd",
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("states", nargs="*", metavar="STATE")
    parser.add_argument("--haystacks", type=int, default=0, metavar="N")
    parser.add_argument("--make-haystack", nargs=2, metavar=("SCRIPT", "DIRECTORY"))
    options = parser.parse_args()
    directory, work, states = options.directory, options.work, options.states
    work.mkdir(parents=True, exist_ok=True)
    haystack = (*options.make_haystack, str(options.haystacks)) if options.haystacks else ()
    questions = Questions(directory.resolve(), work.resolve(), haystack)
    questions.prepare()
    print(
        "| | conversation hit@1 / hit@5 | message first | answer shown | asked again first | other distractor first | nothing | tokens |"
    )
    print("|---|---|---|---|---|---|---|---|")
    baselines(questions)
    measure_bm25(questions)
    for state in states or STATES:
        measure_tools(questions, state)
        measure_long(questions, state)
    for state in states or STATES:
        measure_command_line(questions, state)


if __name__ == "__main__":
    main()
