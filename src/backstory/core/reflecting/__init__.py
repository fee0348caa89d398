"""Look back: what memories and conversations say about a question, a file or a concept, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from ...domain.errors import InvalidInput
from ...domain.filters import ConversationFilter, Filter, Kind
from ...domain.records import QUIET_ROLES, Entry, Memory, Message, heading
from ...search.likeness import likeness, likeness_by_words
from ..engine import Caller, Engine
from ..memories import Draft, Memories

if TYPE_CHECKING:
    from ...domain.entries import Outline
    from ...search.hybrid import Weighed

REFLECTION = "reflection"
FIRST_POOL = 100
ASIDE = 0.8  # what a tool printed, a model thought or a harness put in is seldom what was meant
EXCERPT = 300  # characters of a neighbouring message
MOST_FILES = 20


class Scored(NamedTuple):
    entry: int
    score: float


class Ranking(NamedTuple):
    """All that is sure enough, in order, and the best of what is not."""

    found: list[Scored]
    missed: list[Scored]
    strategy: str
    notices: tuple[str, ...] = ()


class Recollection(NamedTuple):
    entry: Entry
    score: float
    context: str
    files: list[str]


class Stats(NamedTuple):
    conversations: int
    reflections: int
    projects: int
    embedded_percent: float
    bytes: int
    oldest: datetime | None
    newest: datetime | None


class Reflecting(NamedTuple):
    engine: Engine
    caller: Caller
    surface: str

    def keep(self, text: str, tags: Sequence[str]) -> tuple[Memory, bool]:
        """Store an insight; the memory, and whether its vector is there already."""
        if not text.strip():
            raise InvalidInput(
                "content is empty.", hint="Nothing was saved; send the insight.", field="content"
            )
        named = tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
        draft = Draft(text, category=REFLECTION, tags=named)
        memory = Memories(self.engine, self.caller, self.surface).save_item(draft)
        backlog = self.engine.backlog
        return memory, backlog is not None and backlog.catch_up()

    def search(
        self, query: str, *, least: float, project: str | None = None, with_related: bool = True
    ) -> Ranking:
        """Everything that is at least so sure. The caller's own project comes first, then what is related to it."""
        if not query.strip():
            raise InvalidInput("query is empty.", hint="Say what to look for.", field="query")
        where = self._where(project, with_related)
        if where is None:
            return Ranking([], [], "text", (f"Nothing is known of a project {project!r}.",))
        pool = FIRST_POOL
        while True:
            weighed = self.engine.search.weigh(query, where, pool, project=self.caller.project)
            if _most_beyond(weighed) < least or pool >= self.engine.store.entries.size_hint():
                return self._ranking(weighed, where, least)
            pool *= 4

    def by_file(self, path: str, *, project: str | None = None) -> Ranking:
        """What touched a file, and what speaks of it: surest first, then the newest."""
        if not path.strip():
            raise InvalidInput("file_path is empty.", hint="Name the file.", field="file_path")
        where = self._where(project, with_related=True)
        if where is None:
            return Ranking([], [], "text", (f"Nothing is known of a project {project!r}.",))
        from .files import mentions  # compiles patterns

        found = mentions(self.engine.store, path, where)
        ranks = self._nearness([each.outline for each in found])
        found.sort(
            key=lambda each: (
                ranks[each.outline.entry],
                -each.score,
                -each.outline.created_ms,
                -each.outline.entry,
            )
        )
        return Ranking([Scored(each.outline.entry, each.score) for each in found], [], "text")

    def tell(self, scored: Iterable[Scored], *, files: bool = False) -> list[Recollection]:
        """The entries themselves, each with what stands around it. What the caller may no longer see is left out."""
        scores = {each.entry: each.score for each in scored}
        outlines = self.engine.store.entries.outlines(scores, self.caller.visible(Filter()))
        entries = self.engine.store.entries.load(o.entry for o in outlines)
        around = self._around(outlines)
        named = self._files(list(entries.values())) if files else {}
        return [
            Recollection(entry, score, around[number] or heading(entry), named.get(entry.id, []))
            for number, score in scores.items()
            if (entry := entries.get(number)) is not None
        ]

    def suggestions(self, ranking: Ranking, least: float) -> list[str]:
        """What else to search for, when little was found: the words of what came nearest."""
        from ..insight.terms import terms_of  # compiles patterns

        nearest = [each for each in ranking.missed[:3] if each.score > 0]
        if not nearest:
            return []
        entries = self.engine.store.entries.load(each.entry for each in nearest)
        texts = [entries[each.entry] for each in nearest if each.entry in entries]
        subjects = [_subject(entry, terms_of(entry.text)) for entry in texts]
        lower = int(nearest[0].score * 100) / 100
        count = sum(each.score >= lower for each in ranking.missed)
        hint = [f"min_score {lower:.2f} finds {count} more"] if lower < least else []
        return [*dict.fromkeys(filter(None, subjects)), *hint]

    def stats(self) -> Stats:
        """Of what the caller may see."""
        store = self.engine.store
        census = store.census()
        reflections = Filter(kinds=(Kind.MEMORY,), surfaces=(self.surface,), categories=(REFLECTION,))
        span = store.conversations.span()
        entries = census.memories + census.messages
        waiting = (
            entries if self.engine.backlog is None else store.vectors.count_waiting(self.engine.backlog.space)
        )
        return Stats(
            conversations=census.conversations,
            reflections=store.entries.count(self.caller.visible(reflections)),
            projects=census.projects,
            embedded_percent=round(100 * (1 - waiting / entries), 2) if entries else 100.0,
            bytes=census.bytes,
            oldest=span[0] if span else None,
            newest=span[1] if span else None,
        )

    def _where(self, project: str | None, with_related: bool) -> Filter | None:
        """What the caller may see of the projects it means; None when there are none such."""
        if project is None:
            return self.caller.visible(Filter())
        from ..projects.related import projects_named  # compiles patterns

        known = self.engine.store.entries.projects()
        named = projects_named(project, known)
        if not named:
            return None
        related = self._related(named, known) if with_related else []
        return self.caller.visible(Filter(projects=(*named, *related)))

    def _related(self, projects: Sequence[str], known: Sequence[str]) -> list[str]:
        from ..projects.related import related_projects

        declared = self.engine.settings.related_projects
        return related_projects(projects, (*declared, self.caller.project) if declared else (), known)

    def _ranking(self, weighed: Weighed, where: Filter, least: float) -> Ranking:
        scores = {r.entry: _score(r.similarity, r.coverage, weighed) for r in weighed.ranked}
        outlines = {o.entry: o for o in self.engine.store.entries.outlines(scores, where)}
        scored = [
            Scored(
                r.entry, round(scores[r.entry] * (ASIDE if outlines[r.entry].role in QUIET_ROLES else 1), 4)
            )
            for r in weighed.ranked
            if r.entry in outlines
        ]
        ranks = self._nearness(outlines.values())
        found = [each for each in scored if each.score >= least]
        missed = [each for each in scored if each.score < least]
        return Ranking(
            sorted(found, key=lambda each: (ranks[each.entry], -each.score)),
            sorted(missed, key=lambda each: -each.score),
            weighed.strategy,
            weighed.notices,
        )

    def _nearness(self, outlines: Iterable[Outline]) -> dict[int, int]:
        """0 for the caller's own project, 1 for what is related to it, 2 for the rest."""
        outlines = list(outlines)
        own = self.caller.project
        others = sorted({o.project for o in outlines} - {own})
        related = set(self._related([own], others)) if others else set()
        return {o.entry: 0 if o.project == own else 1 if o.project in related else 2 for o in outlines}

    def _around(self, outlines: Sequence[Outline]) -> dict[int, str]:
        """What was said just before and after each message; of one that nobody said, what its conversation is about."""
        store = self.engine.store
        beside = {
            (o.thread, o.seq): o for o in store.entries.neighbours(outlines, self.caller.visible(Filter()))
        }
        texts = store.entries.load(o.entry for o in beside.values())
        talks = tuple({o.thread for o in outlines if o.role and o.thread})
        titles = (
            {talk.id: talk.title for talk in store.conversations.find(ConversationFilter(ids=talks))}
            if talks
            else {}
        )
        around = {}
        for o in outlines:
            places = [beside.get((o.thread, o.seq + step)) for step in (-1, 1) if o.is_said]
            said = [texts[place.entry] for place in places if place is not None and place.entry in texts]
            around[o.entry] = "\n".join(map(_excerpt, said)) or titles.get(o.thread or "", "")
        return around

    def _files(self, entries: Sequence[Entry]) -> dict[str, list[str]]:
        """By entry: those that its conversation touched, or its own text names."""
        from ..graph.names import find_names  # compiles patterns

        talks = {entry.conversation for entry in entries if isinstance(entry, Message)}
        touched = self.engine.store.traces.files(sorted(talks)) if talks else {}
        files: dict[str, list[str]] = {}
        for entry in entries:
            whole = touched.get(entry.conversation, []) if isinstance(entry, Message) else []
            named = [found.thing.name for found in find_names(entry.text) if found.thing.type == "file"]
            shorter = [name for name in named if not any(path.endswith(f"/{name}") for path in whole)]
            files[entry.id] = list(dict.fromkeys((*shorter, *whole)))[:MOST_FILES]
        return files


def _score(similarity: float, coverage: float, weighed: Weighed) -> float:
    if weighed.strategy == "text" or not similarity:  # it may still wait for its vector
        return likeness_by_words(coverage)
    return likeness(similarity, coverage)


def _most_beyond(weighed: Weighed) -> float:
    """No entry that was not looked at is surer than this."""
    by_words = likeness_by_words(weighed.beyond_coverage)
    if weighed.strategy == "text":
        return by_words
    if not weighed.beyond_similarity and not weighed.beyond_coverage:
        return 0.0
    return max(by_words, likeness(weighed.beyond_similarity, weighed.beyond_coverage))


def _excerpt(entry: Entry) -> str:
    role = entry.role if isinstance(entry, Message) else "memory"
    text = " ".join(entry.text.split())
    return f"{role}: {text if len(text) <= EXCERPT else text[:EXCERPT] + ' …'}"


def _subject(entry: Entry, terms: frozenset[str]) -> str:
    """A few words to search for: a memory's key and tags, else the longest words of the text."""
    if isinstance(entry, Memory) and (entry.key or entry.tags):
        return " ".join(filter(None, (entry.key, *entry.tags[:2])))
    return " ".join(sorted(terms, key=lambda term: (-len(term), term))[:3])
