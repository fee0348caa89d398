"""The pages as one application: which address leads where, and how a View becomes HTML or JSON.

The core is synchronous, so each page is made on a thread."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, NamedTuple

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from .. import __version__
from ..core import Core
from ..core.contents import size_hint
from ..domain.errors import BackstoryError, InvalidInput, NotAllowed, NotFound, Unavailable
from .figures import renew, short_project_names
from .page_query import PageQuery
from .pages import (
    blame,
    changes,
    conversation,
    conversations,
    files,
    graph,
    health,
    home,
    inbox,
    injected,
    memories,
    search,
    sharing,
    statements,
    stats,
    timeline,
    usage,
)
from .rendering import STATIC, templates, with_project_names
from .view import Download, Json, Redirect, View

Lend = Callable[[Request], AbstractContextManager[Core]]
Page = Callable[[Core, PageQuery], View]
Change = Callable[[Core, PageQuery], Redirect | View]

STATUS: dict[type[BackstoryError], int] = {
    InvalidInput: 400,
    NotAllowed: 403,
    NotFound: 404,
    Unavailable: 503,
}
_FAILURES = {400: "Invalid request", 403: "Not allowed", 404: "Page not found", 503: "Not available"}
"""Titles of the page that is shown instead."""
PULSE_S = 1.0  # pause between two checks for changes
THEMES = ("light", "dark")
THEME = "backstory_theme"
LOGOUT = "backstory.logout"
"""Key of a request's scope for the path that logs out; empty or missing if nobody logged in."""

PAGES: dict[str, Page] = {
    "/search": search.page,
    "/conversations": conversations.page,
    "/conversation/{id:path}": conversation.page,
    "/changes/{id:path}": changes.page,
    "/result/{id:path}": sharing.result_page,
    "/memories": memories.page,
    "/memory/{id:path}": memories.memory_page,
    "/files": files.page,
    "/file": files.file_page,
    "/timeline": timeline.page,
    "/graph": graph.page,
    "/inbox": inbox.page,
    "/injected": injected.page,
    "/statements": statements.page,
    "/stats": stats.page,
    "/usage": usage.page,
}
CHANGES: dict[str, Change] = {
    "/edit": memories.edit,
    "/supersede": memories.supersede,
    "/undo": memories.undo,
    "/done": memories.done,
    "/forget": memories.forget,
    "/restore": memories.restore,
    "/forget-conversation": conversation.forget,
    "/read-histories": home.read_histories,
    "/accept": inbox.accept,
    "/dismiss": inbox.dismiss,
    "/accept-memory": inbox.accept_memory,
    "/dismiss-memory": inbox.dismiss_memory,
    "/dismiss-statement": statements.dismiss,
    "/save-statement": statements.save,
}
DOWNLOADS: dict[str, Callable[[Core, PageQuery], Download]] = {
    "/export/{id:path}": sharing.export,
    "/exported/{name:path}": sharing.stored_export,
}


class Menu(NamedTuple):
    path: str
    name: str
    key: str
    """Typed after `g`, it leads there."""


MENU = (
    Menu("/", "Home", "h"),
    Menu("/search", "Search", "s"),
    Menu("/conversations", "Conversations", "c"),
    Menu("/memories", "Memories", "m"),
    Menu("/statements", "Statements", "p"),
    Menu("/files", "Files", "f"),
    Menu("/timeline", "Timeline", "t"),
    Menu("/graph", "Graph", "r"),
    Menu("/inbox", "Inbox", "b"),
    Menu("/injected", "Injected", "i"),
    Menu("/usage", "Usage", "u"),
    Menu("/stats", "Stats", "a"),
    Menu("/health", "Health", "d"),
)


class Site:
    def __init__(
        self,
        lend: Lend,
        *,
        is_read_only: Callable[[Request], bool],
        checks: health.Checks | None = None,
        places: blame.FindPlaces | None = None,
        histories: home.UnreadHistories | None = None,
        is_closing: Callable[[], bool] = lambda: False,
    ) -> None:
        """`lend` returns the core with the caller's permissions; `checks` runs the doctor, `places` are the
        assistants' folders, and `histories` returns unread histories."""
        self._lend = lend
        self._is_read_only = is_read_only
        self._is_closing = is_closing
        self._pages: dict[str, Page] = {
            "/": partial(home.page, histories=histories),
            **PAGES,
            "/blame": partial(blame.page, places=places),
            "/health": partial(health.page, checks=checks),
        }

    def app(self) -> Starlette:
        routes = [
            *(Route(path, self._page(make)) for path, make in self._pages.items()),
            *(Route(path, self._download(make)) for path, make in DOWNLOADS.items()),
            *(Route(path, self._change(make), methods=["POST"]) for path, make in CHANGES.items()),
            Route("/events", self._events),
            Mount("/static", StaticFiles(directory=STATIC), name="static"),
        ]
        return Starlette(routes=routes, exception_handlers={404: self._missing})

    def _page(self, make: Page) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            return await self._in_thread(
                request, lambda core: self._rendered(request, core, make(core, _asked(request, core)))
            )

        return answer

    def _download(
        self, make: Callable[[Core, PageQuery], Download]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            def file(core: Core) -> Response:
                download = make(core, _asked(request, core))
                headers = {"Content-Disposition": f'attachment; filename="{download.name}"'}
                return Response(download.content, media_type=download.type, headers=headers)

            return await self._in_thread(request, file)

        return answer

    async def _events(self, request: Request) -> Response:
        """Send changes to an open page as they happen."""

        def look() -> str:
            with self._lend(request) as core:
                if not self._is_read_only(request):
                    core.engine.sync_soon()
                return json.dumps(news(core, _asked(request, core)))

        async def told() -> AsyncIterator[str]:
            before = ""
            while not self._is_closing():
                try:
                    now = await anyio.to_thread.run_sync(look)
                except BackstoryError:  # the record is gone
                    return
                yield f"data: {now}\n\n" if now != before else ": still here\n\n"
                before = now
                await anyio.sleep(PULSE_S)

        return StreamingResponse(told(), media_type="text/event-stream")

    def _change(self, make: Change) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            if self._is_read_only(request):
                return self._failure(request, NotAllowed("These pages are read-only; nothing was changed."))
            form = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}

            def changed(core: Core) -> Response:
                moved = make(core, _asked(request, core, form))
                renew(core)
                if isinstance(moved, View):
                    return self._rendered(request, core, moved)
                if form.get("format") == "json":
                    return JSONResponse(moved.body)
                return RedirectResponse(self._base(request) + moved.path, 303)

            return await self._in_thread(request, changed)

        return answer

    async def _in_thread(self, request: Request, make: Callable[[Core], Response]) -> Response:
        def answer() -> Response:
            with self._lend(request) as core, core.engine.serving():
                return make(core)

        try:
            return await anyio.to_thread.run_sync(answer)
        except BackstoryError as error:
            return self._failure(request, error)

    def _failure(self, request: Request, error: BackstoryError) -> Response:
        status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 500)
        body = {"error": error.message, "hint": error.hint}
        return self._shown(request, View("error.html", body, _FAILURES.get(status, "Not possible")), status)

    async def _missing(self, request: Request, error: Exception) -> Response:
        return self._failure(request, NotFound("page", request.url.path))

    def _rendered(self, request: Request, core: Core, view: View) -> Response:
        with with_project_names(short_project_names(core)):
            return self._shown(request, view)

    def _shown(self, request: Request, view: View, status: int = 200) -> Response:
        if request.query_params.get("format") == "json":
            return JSONResponse(view.body, status)
        template = templates().get_template(view.part if _wants_part(request, view) else view.template)
        return HTMLResponse(template.render(**self._context(request, view), **view.body), status)

    def _context(self, request: Request, view: View) -> Json:
        theme = request.cookies.get(THEME, "")
        return {
            "base": self._base(request),
            "here": request.url.path.removeprefix(self._base(request)),
            "logout": request.scope.get(LOGOUT, ""),
            "menu": MENU,
            "read_only": self._is_read_only(request),
            "theme": theme if theme in THEMES else "",
            "title": view.title,
            "version": __version__,
            "asked": {
                name: value for name, value in request.query_params.items() if name not in ("format", "part")
            },
        }

    def _base(self, request: Request) -> str:
        """The path prefix of the pages: empty on this machine, `/web` or the like on a team server."""
        base: str = request.scope.get("root_path", "")
        return base


def _asked(request: Request, core: Core, form: Mapping[str, str] | None = None) -> PageQuery:
    values: dict[str, Any] = {**request.query_params, **(form or {}), **request.path_params}
    return PageQuery(values, core.engine.now)


def _wants_part(request: Request, view: View) -> bool:
    return bool(view.part) and "part" in request.query_params


def news(core: Core, asked: PageQuery) -> Json:
    body: Json = {"entries": size_hint(core.engine)}
    if id := asked.text("conversation"):
        conversation = core.replay.conversation(id)
        body["end"] = core.replay.end(conversation)
    return body
