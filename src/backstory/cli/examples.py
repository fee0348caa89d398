"""Examples for the help of each command: a command line and its effect."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "serve": (
        ("backstory serve", "what an assistant's configuration starts"),
        ("backstory serve --surfaces memory-keeper", "with the tools of one family only"),
        ("backstory serve --http 127.0.0.1:8000", "for many, over HTTP"),
    ),
    "demo": (("backstory demo", "three invented conversations, one memory; nothing of yours is touched"),),
    "install": (
        ("backstory install", "shows which assistants are here, and asks"),
        ("backstory install cursor zed", "these"),
        ("backstory install --dry-run", "the lines that all that are here would get"),
        (
            "backstory install claude-code --memory-files",
            "and what holds in each project, in the file that it loads",
        ),
    ),
    "uninstall": (
        ("backstory uninstall", "where it is installed; nothing is changed"),
        ("backstory uninstall cursor", "takes it out of this client's files"),
        ("backstory uninstall --all", "out of all of them"),
    ),
    "search": (
        ("backstory search which database did we pick", "by words and by meaning"),
        ("backstory search timeout --assistant codex --since 30d", "in one assistant's last month"),
        ("backstory search --file src/auth.py", "what touched or names a file"),
        ("backstory search login cookie --open", "the best result, with what stands around it"),
        ("backstory search deploy --kind decision --json", "for a program"),
    ),
    "sessions": (
        ("backstory sessions --project .", "of the project you are in"),
        (
            "backstory sessions --assistant claude --since yesterday",
            "of one assistant, of today and yesterday",
        ),
        ("backstory sessions --file src/auth.py", "those that read or wrote a file"),
    ),
    "show": (
        ("backstory show 1af7fc5e", "a conversation from its beginning; eight characters are enough"),
        ("backstory show 1af7fc5e --around 12", "the messages around number 12"),
        ("backstory show 1af7fc5e#12", "the same, as search writes it"),
        ("backstory show 1af7fc5e --from=-5 --full", "the last five, whole"),
    ),
    "remember": (
        ("backstory remember we deploy on Tuesdays", "a fact about the project you are in"),
        ("backstory remember --kind decision use PostgreSQL for jobs", "a decision"),
        ("backstory remember - --project shop < notes.md", "the text of a file, of another project"),
    ),
    "export": (
        ("backstory export 1af7fc5e", "one HTML file to share, without secrets and home directories"),
        ("backstory export 1af7fc5e --output talk.md", "as Markdown, into this file"),
        ("backstory export --as json --output -", "the latest of this project, printed"),
    ),
    "stats": (
        ("backstory stats --since 30d", "tokens and costs of the last month, by assistant and by model"),
        ("backstory stats --project . --by day", "of the project you are in, day by day"),
        ("backstory stats --by tool", "how often each tool was called, and failed"),
    ),
    "brief": (
        ("backstory brief", "of the project you are in"),
        ("backstory brief shop --max-tokens 600", "of another one, at more length"),
    ),
    "statements": (
        ("backstory statements", "what holds in the project you are in"),
        (
            "backstory statements shop --kind decision --all --format md",
            "its decision log, superseded ones too",
        ),
    ),
    "injected": (
        ("backstory injected", "the latest texts, newest first"),
        ("backstory injected --session ID --json", "of one session, with tokens and certainty"),
    ),
    "inbox": (
        ("backstory inbox", "what you said in two sessions of this project, and nobody saved"),
        ("backstory inbox accept 1af7fc5e", "as a memory"),
        (
            'backstory inbox edit 1af7fc5e --text "Run make check first." --file AGENTS.md',
            "as a line of a rules file",
        ),
        ("backstory inbox dismiss 1af7fc5e", "never again"),
    ),
    "timeline": (
        ("backstory timeline --project . --since 7d", "a week of this project, with its commits"),
        ("backstory timeline --kind memory", "what was saved, day by day"),
    ),
    "resume": (
        ("backstory resume", "the latest conversation of the project you are in"),
        ("backstory resume 1af7fc5e", "this one, in its assistant and its directory"),
        ("backstory resume 1af7fc5e --print", "the command instead, to paste elsewhere"),
        ("backstory resume 1af7fc5e --in codex", "go on with it in Codex"),
        ("backstory resume --in gemini-cli --dry-run", "what would be written, and where"),
    ),
    "handoff": (
        ("backstory handoff", "the latest conversation of this project, to paste anywhere"),
        ("backstory handoff 1af7fc5e --tokens 8000", "a short form of this one"),
    ),
    "blame": (
        ("backstory blame src/auth.py:42", "one line: session, message, prompt and commit"),
        ("backstory blame src/auth.py:40-60", "some lines"),
        ("backstory blame src/auth.py", "the whole file, by stretches of lines"),
    ),
    "why": (
        (
            "backstory why src/auth.py",
            "what was asked for, decided, reversed and broken, in the order of time",
        ),
        ("backstory why src/auth.py --all --json", "every event, for a program"),
    ),
    "fix": (
        ("backstory fix \"ModuleNotFoundError: No module named 'yaml'\"", "what made it pass the last time"),
        ("backstory fix - < test.log", "from the output of what failed"),
    ),
    "how": (
        ("backstory how run the tests", "the commands that passed, the most used first"),
        ("backstory how deploy --project shop", "in another project"),
    ),
    "pr": (
        ("backstory pr", "the branch you are on, since it left the shared branch"),
        ("backstory pr HEAD~3..HEAD", "the last three commits"),
    ),
    "share": (
        ("backstory share 5f0c1d2e3a", "as a file in .backstory/team, to review and commit"),
        ("backstory share 5f0c1d2e3a --propose", "as a commit on a branch; your work tree stays as it is"),
    ),
    "unshare": (("backstory unshare 5f0c1d2e3a", "removes the file"),),
    "team": (
        ("backstory team", "what is in force here: title, kind, author, state"),
        ("backstory team trust", "read what is on the shared branch from now on"),
        ("backstory team check", "for CI and before a commit"),
        (
            "backstory team join https://memory.example.com --space ops",
            "recall and brief have the space's memories too; asks for the token",
        ),
        ("backstory team status", "joined spaces, their copies here, and what waits to be delivered"),
        ("backstory team leave ops", "deletes the copies"),
    ),
    "list": (
        ("backstory list --project . --kind decision", "what was decided here"),
        ("backstory list --since 7d", "what was saved or changed this week"),
    ),
    "edit": (
        ("backstory edit 5f0c1d2e3a", "in your editor (VISUAL or EDITOR)"),
        ('backstory edit 5f0c1d2e3a --text "Deploy on Mondays."', "without one"),
    ),
    "delete": (
        ("backstory delete 5f0c1d2e3a", "one memory; asks first"),
        ("backstory delete 1af7fc5e --yes", "a conversation with its subagents, without asking"),
    ),
    "web": (
        ("backstory web", "opens your browser; ends with the terminal"),
        ("backstory web --port 8123 --no-open", "for a forwarded port"),
    ),
    "status": (("backstory status", "what the store holds, and what waits"),),
    "doctor": (("backstory doctor", "every check, and what to do about what is wrong"),),
    "tools": (("backstory tools", "by family, with what each does"),),
    "settings": (("backstory settings", "flags, variables, meanings and present values"),),
    "sync": (
        ("backstory sync", "all assistants, now"),
        ("backstory sync --reader codex --reader cursor", "only these"),
        ("backstory sync --file ~/.codex/sessions/2026/01/02/rollout-….jsonl", "one log, at once"),
    ),
    "import": (
        ("backstory import", "what other memory programs keep here; nothing is imported"),
        ("backstory import claude-mem --dry-run", "what would come, from where it keeps its store"),
        ("backstory import server-memory ~/shop/memory.jsonl", "from this file"),
        ("backstory import chatgpt export.zip", "the archive as it was downloaded"),
    ),
    "forget": (
        ("backstory forget --project ~/old --before 2026-01-01", "old conversations of a project"),
        ("backstory forget 1af7fc5e --backups", "out of the backups too"),
    ),
    "exclude": (
        (
            "backstory exclude ~/work/secret",
            "nothing of it is read any more; asks whether to forget the rest",
        ),
        ("backstory exclude '*/clients/acme' --yes", "every project of this name, without asking"),
        ("backstory exclude", "the rules"),
    ),
    "devices": (
        ("backstory devices init ~/Dropbox/backstory", "makes a vault there and prints its recovery code"),
        ("backstory devices join ~/Dropbox/backstory", "on another machine; asks for the code"),
        ("backstory devices sync --dry-run", "what would be read and sent"),
        ("backstory devices remove laptop --rekey", "a machine that is lost or sold"),
        ("backstory devices pull me@server", "once, over ssh, without a folder"),
    ),
    "embed": (("backstory embed", "waits until every text has its vectors"),),
    "backup": (
        ("backstory backup ~/backstory.db", "a whole copy, while servers run"),
        ("backstory backup", "every store, also those of a team server, into their backups"),
    ),
    "restore": (
        ("backstory restore ~/backstory.db", "the present store is kept as a backup"),
        ("backstory restore FILE --space user-alice", "one store of a team server"),
    ),
    "migrate": (
        ("backstory migrate --from sqlite:///store.db --to postgresql://me@localhost/memory", "resumable"),
    ),
    "archive": (("backstory archive --older-than 365", "what would go; --yes does it"),),
    "unarchive": (
        ("backstory unarchive", "what is in the archive"),
        ("backstory unarchive old_plan", "makes it live again"),
    ),
    "token": (
        ("backstory token create --user ann --expires 90", "shown once"),
        ("backstory token", "the tokens there are"),
    ),
    "admin": (
        (
            "backstory admin members add ops ann --role maintainer",
            "ann may accept proposals of the space ops",
        ),
        ("backstory admin review on ops", "what writers save there waits for a maintainer"),
        ("backstory admin tenants size", "what each user and team takes"),
        ("backstory admin tenants export user-alice alice.db", "a copy in one file, each row compared"),
        ("backstory admin tenants quota team-ops 500", "at most 500 MB; none takes the limit away"),
    ),
    "audit": (("backstory audit", "the last changes over HTTP"),),
    "integrity": (("backstory integrity", "every page and index"),),
    "completion": (
        ("source <(backstory completion bash)", "in ~/.bashrc; zsh the same in ~/.zshrc"),
        ("backstory completion fish | source", "in ~/.config/fish/config.fish"),
    ),
}

EXIT_STATUS = """\
exit status:
  0    done
  1    it failed, or a search found nothing; standard error says why, and what to do
  2    the command was not understood; nothing was done
  130  interrupted"""
