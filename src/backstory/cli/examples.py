"""Examples for the help of each command: a command line and its effect."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "serve": (
        ("backstory serve", "the command in an assistant's configuration"),
        ("backstory serve --surfaces memory-keeper", "only the tools of one family"),
        ("backstory serve --http 127.0.0.1:8000", "for many clients, over HTTP"),
    ),
    "demo": (("backstory demo", "three invented conversations; your own data is not touched"),),
    "install": (
        ("backstory install", "list the installed assistants and ask which to configure"),
        ("backstory install cursor zed", "only these clients"),
        ("backstory install --dry-run", "show the changes for all installed assistants"),
        (
            "backstory install claude-code --memory-files",
            "also write the state of each project to the file it loads",
        ),
    ),
    "uninstall": (
        ("backstory uninstall", "show where it is installed, without changes"),
        ("backstory uninstall cursor", "remove it from this client's files"),
        ("backstory uninstall --all", "remove it from all clients"),
    ),
    "search": (
        ("backstory search which database did we pick", "by words and by meaning"),
        ("backstory search timeout --assistant codex --since 30d", "one assistant, the last 30 days"),
        ("backstory search --file src/auth.py", "results that touched or mention a file"),
        ("backstory search login cookie --open", "the best result with its context"),
        ("backstory search deploy --kind decision --json", "as JSON"),
    ),
    "sessions": (
        ("backstory sessions --project .", "conversations of the current project"),
        (
            "backstory sessions --assistant claude --since yesterday",
            "one assistant, since yesterday",
        ),
        ("backstory sessions --file src/auth.py", "conversations that read or wrote a file"),
    ),
    "show": (
        ("backstory show 1af7fc5e", "a conversation from its beginning; eight characters are enough"),
        ("backstory show 1af7fc5e --around 12", "the messages around message 12"),
        ("backstory show 1af7fc5e#12", "message 12, in the notation of search results"),
        ("backstory show 1af7fc5e --from=-5 --full", "the last five messages, in full"),
    ),
    "remember": (
        ("backstory remember we deploy on Tuesdays", "a fact about the project you are in"),
        ("backstory remember --kind decision use PostgreSQL for jobs", "a decision"),
        ("backstory remember - --project shop < notes.md", "the text of a file, of another project"),
    ),
    "export": (
        (
            "backstory export 1af7fc5e",
            "one HTML file to share, without secrets, home directories and user names",
        ),
        ("backstory export 1af7fc5e --output talk.md", "as Markdown, into this file"),
        ("backstory export --as json --output -", "the latest of this project, printed"),
    ),
    "stats": (
        ("backstory stats --since 30d", "tokens and costs of the last month, by assistant and by model"),
        ("backstory stats --project . --by day", "the current project, day by day"),
        ("backstory stats --by tool", "how often each tool was called and failed"),
    ),
    "brief": (
        ("backstory brief", "the brief of the current project"),
        ("backstory brief shop --max-tokens 600", "a longer brief of another project"),
    ),
    "statements": (
        ("backstory statements", "statements in force in the current project"),
        (
            "backstory statements shop --kind decision --all --format md",
            "the decision log, including superseded decisions",
        ),
    ),
    "injected": (
        ("backstory injected", "the latest texts, newest first"),
        ("backstory injected --session ID --json", "one session, with tokens and certainty"),
    ),
    "inbox": (
        ("backstory inbox", "rules stated in at least two sessions and not saved yet"),
        ("backstory inbox accept 1af7fc5e", "save it as a memory"),
        (
            'backstory inbox edit 1af7fc5e --text "Run make check first." --file AGENTS.md',
            "add it to a rules file",
        ),
        ("backstory inbox dismiss 1af7fc5e", "do not propose it again"),
    ),
    "timeline": (
        ("backstory timeline --project . --since 7d", "a week of this project, with its commits"),
        ("backstory timeline --kind memory", "saved memories, day by day"),
    ),
    "resume": (
        ("backstory resume", "the latest conversation of the current project"),
        ("backstory resume 1af7fc5e", "this conversation, in its assistant and directory"),
        ("backstory resume 1af7fc5e --print", "print the command, to paste elsewhere"),
        ("backstory resume 1af7fc5e --in codex", "continue it in Codex"),
        ("backstory resume --in gemini-cli --dry-run", "show what would be written, and where"),
    ),
    "handoff": (
        ("backstory handoff", "the latest conversation of this project, to paste anywhere"),
        ("backstory handoff 1af7fc5e --tokens 8000", "a short form of this conversation"),
    ),
    "blame": (
        ("backstory blame src/auth.py:42", "one line: session, message, prompt and commit"),
        ("backstory blame src/auth.py:40-60", "a range of lines"),
        ("backstory blame src/auth.py", "the whole file, in blocks of lines"),
    ),
    "why": (
        (
            "backstory why src/auth.py",
            "what was asked for, decided, reversed and broken, in the order of time",
        ),
        ("backstory why src/auth.py --all --json", "every event, for a program"),
    ),
    "fix": (
        ("backstory fix \"ModuleNotFoundError: No module named 'yaml'\"", "the solution of the last time"),
        ("backstory fix - < test.log", "from the output of a failed command"),
    ),
    "how": (
        ("backstory how run the tests", "commands that passed, most used first"),
        ("backstory how deploy --project shop", "in another project"),
    ),
    "pr": (
        ("backstory pr", "the current branch, since it left the shared branch"),
        ("backstory pr HEAD~3..HEAD", "the last three commits"),
    ),
    "share": (
        ("backstory share 5f0c1d2e3a", "as a file in .backstory/team, to review and commit"),
        ("backstory share 5f0c1d2e3a --propose", "as a commit on a branch; your work tree does not change"),
    ),
    "unshare": (("backstory unshare 5f0c1d2e3a", "remove the file"),),
    "team": (
        ("backstory team", "shared notes: title, kind, author, state"),
        ("backstory team trust", "read the notes on the shared branch from now on"),
        ("backstory team check", "for CI and before a commit"),
        (
            "backstory team join https://memory.example.com --space ops",
            "recall and brief have the space's memories too; asks for the token",
        ),
        ("backstory team status", "joined spaces, their copies here, and what waits to be delivered"),
        ("backstory team leave ops", "deletes the copies"),
    ),
    "list": (
        ("backstory list --project . --kind decision", "decisions in the current project"),
        ("backstory list --since 7d", "memories saved or changed this week"),
    ),
    "edit": (
        ("backstory edit 5f0c1d2e3a", "in your editor (VISUAL or EDITOR)"),
        ('backstory edit 5f0c1d2e3a --text "Deploy on Mondays."', "without an editor"),
    ),
    "delete": (
        ("backstory delete 5f0c1d2e3a", "one memory; asks first"),
        ("backstory delete 1af7fc5e --yes", "a conversation with its subagents, without asking"),
    ),
    "web": (
        ("backstory web", "opens your browser; ends with the terminal"),
        ("backstory web --port 8123 --no-open", "for a forwarded port"),
    ),
    "status": (("backstory status", "contents of the store, and waiting work"),),
    "doctor": (("backstory doctor", "run every check, with suggestions for repairs"),),
    "tools": (("backstory tools", "by family, with descriptions"),),
    "settings": (("backstory settings", "flags, variables, meanings and current values"),),
    "sync": (
        ("backstory sync", "all assistants, now"),
        ("backstory sync --reader codex --reader cursor", "only these"),
        ("backstory sync --file ~/.codex/sessions/2026/01/02/rollout-….jsonl", "one log"),
    ),
    "import": (
        ("backstory import", "list other memory programs here; imports nothing"),
        ("backstory import claude-mem --dry-run", "count the records in its usual location"),
        ("backstory import server-memory ~/shop/memory.jsonl", "from this file"),
        ("backstory import chatgpt export.zip", "a downloaded archive"),
    ),
    "forget": (
        ("backstory forget --project ~/old --before 2026-01-01", "old conversations of a project"),
        ("backstory forget 1af7fc5e --backups", "remove it from the backups too"),
    ),
    "exclude": (
        (
            "backstory exclude ~/work/secret",
            "stop reading it, and ask whether to forget its records",
        ),
        ("backstory exclude '*/clients/acme' --yes", "every project of this name, without asking"),
        ("backstory exclude", "list the rules"),
    ),
    "devices": (
        ("backstory devices init ~/Dropbox/backstory", "create a vault there and print its recovery code"),
        ("backstory devices join ~/Dropbox/backstory", "on another machine; asks for the code"),
        ("backstory devices sync --dry-run", "show what would be read and sent"),
        ("backstory devices remove laptop --rekey", "remove a machine that is lost or sold"),
        ("backstory devices pull me@server", "once, over ssh, without a folder"),
    ),
    "embed": (("backstory embed", "wait until every text has embeddings"),),
    "backup": (
        ("backstory backup ~/backstory.db", "a complete copy, while servers run"),
        ("backstory backup", "back up every store, including those of a team server"),
    ),
    "restore": (
        ("backstory restore ~/backstory.db", "the current store is saved as a backup first"),
        ("backstory restore FILE --space user-alice", "one store of a team server"),
    ),
    "migrate": (
        ("backstory migrate --from sqlite:///store.db --to postgresql://me@localhost/memory", "resumable"),
    ),
    "archive": (("backstory archive --older-than 365", "list old records; --yes archives them"),),
    "unarchive": (
        ("backstory unarchive", "list the archive"),
        ("backstory unarchive old_plan", "restore it"),
    ),
    "token": (
        ("backstory token create --user ann --expires 90", "create a token, which is shown once"),
        ("backstory token", "list the tokens"),
    ),
    "admin": (
        (
            "backstory admin members add ops ann --role maintainer",
            "ann may accept proposals of the space ops",
        ),
        ("backstory admin review on ops", "new memories of writers wait for a maintainer"),
        ("backstory admin tenants size", "disk space of each user and team"),
        ("backstory admin tenants export user-alice alice.db", "a copy in one file, each row compared"),
        ("backstory admin tenants quota team-ops 500", "at most 500 MB; `none` removes the limit"),
    ),
    "audit": (("backstory audit", "the latest changes over HTTP"),),
    "integrity": (("backstory integrity", "check every page and index"),),
    "completion": (
        ("source <(backstory completion bash)", "in ~/.bashrc; for zsh in ~/.zshrc"),
        ("backstory completion fish | source", "in ~/.config/fish/config.fish"),
    ),
}

EXIT_STATUS = """\
exit status:
  0    success
  1    failure, or a search without results; standard error has the reason and a hint
  2    invalid command line; nothing was done
  130  interrupted"""
