"""Check that each write of a laptop arrives at its team's server exactly once, with the network cut at random moments.

    python bench/joined.py HOME [WRITES] [SEED …]

A laptop that joined a space saves facts for it, some of which correct an earlier one. Between them is a proxy that cuts connections before, in and after
requests and answers. Both ends are killed (SIGKILL) and started again now and then: the laptop's writes are made by processes of
their own, and so is each attempt to deliver. At the end the network works, waiting deliveries are made, and the memories on
the server are compared with the writes that the laptop acknowledged. Afterwards HOME has one folder for each seed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from servers import BACKSTORY

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.cutting_proxy import CuttingProxy

from backstory.app import open_engine, read_settings
from backstory.core import Caller, Core, Engine
from backstory.core.calls import Call
from backstory.core.team import spaces
from backstory.core.team.spaces import Spaces
from backstory.domain.errors import BackstoryError
from backstory.domain.filters import Filter, Page
from backstory.server.tenants import shared

WRITES = 200
SEEDS = (1, 2, 3)
SPACE, USER = "ops", "bob"
CUT_SHARE = 0.7
ATTEMPTS = 12
"""Attempts of one laptop process to deliver everything that waits."""
READY = "ready"
WRITES_AT_ONCE = (1, 24)
"""Minimum and maximum writes of one laptop process, which may be killed before its last one."""
KILLED_SHARE = 0.4
"""The share of the laptop's processes that are killed."""
RESTART_SHARE = 0.15
"""The share of rounds before which the server is killed and restarted."""
CORRECTION_SHARE = 0.2
LEASE_MS = 1_000
"""Instead of a minute, for which a killed process would keep all others from delivering."""
DRAIN_S = 300.0


class SeedResult(NamedTuple):
    acknowledged: int
    corrections: int
    lost: int
    doubled: int
    cuts: int
    laptop_kills: int
    server_kills: int
    failed_deliveries: int


class TeamServer:
    def __init__(self, home: Path) -> None:
        self._environment = environment_of(home)
        self._port = 0
        self._process: subprocess.Popen[str] | None = None
        self.kills = 0

    def start(self) -> tuple[str, int]:
        command = [*BACKSTORY, "--http", f"127.0.0.1:{self._port}", "--http-auth", "token"]
        self._process = subprocess.Popen(
            [*command, "--requests-per-minute", "0"],
            env=self._environment,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        assert self._process.stderr is not None
        line = self._process.stderr.readline()
        address = urlsplit(next(word for word in line.split() if word.startswith("http")))
        self._port = address.port or 0
        return str(address.hostname), self._port

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.communicate()

    def restart(self) -> None:
        self.kill()
        self.kills += 1
        self.start()


def environment_of(home: Path) -> dict[str, str]:
    variables = {"HOME": str(home), "EMBEDDINGS": "off", "BACKUPS": "off", "HISTORIES": "off"}
    return {**os.environ, **{f"BACKSTORY_{name}": value for name, value in variables.items()}}


def backstory(home: Path, *words: str) -> str:
    command = [sys.executable, "-m", "backstory", *words]
    return subprocess.run(
        command, env=environment_of(home), check=True, capture_output=True, text=True
    ).stdout


def opened(home: Path, tenant: str = "") -> Engine:
    settings = read_settings({"home": home, "embeddings": "off", "backups": "off", "histories": "off"})
    return open_engine(settings, tenant) if tenant else open_engine(settings)


def save(home: Path, seed: int, first: int, count: int) -> None:
    """The laptop's process that writes: a line on standard output is an acknowledged write."""
    random_ = random.Random(f"{seed}-{first}")
    with closing(opened(home)) as engine:
        core = Core(engine, Caller(project=str(home)))
        print(READY, flush=True)
        for number in range(first, first + count):
            text = f"Fact {number} of seed {seed} about the harbour."
            waiting = [each.memory for each in engine.store.outgoing.all() if not each.replaces]
            replaces = None
            if waiting and random_.random() < CORRECTION_SHARE:
                replaces = random_.choice(waiting)
            memory = core.remembering.remember(text, space=SPACE, replaces=replaces).memory
            print(json.dumps({"id": memory.id, "text": text, "replaces": replaces}), flush=True)


def deliver(home: Path) -> None:
    """The laptop's process that delivers: it tries several times, and prints a line for each failure."""
    spaces.LEASE_MS = LEASE_MS
    with closing(opened(home)) as engine:
        print(READY, flush=True)
        for _ in range(ATTEMPTS):
            try:
                Spaces(engine).sync(Call(), is_forced=True)
            except BackstoryError as error:
                print(error.message, flush=True)


def own_process(home: Path, *words: str, kill_after_s: float | None) -> tuple[str, int]:
    """Run a part of this file. Returns its output and its status, which is negative if it was killed."""
    with subprocess.Popen(
        [sys.executable, __file__, *words],
        env=environment_of(home),
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == READY
        try:
            output, _ = process.communicate(timeout=kill_after_s)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            output, _ = process.communicate()
    return output, process.returncode


def run_seed(home: Path, seed: int, writes: int) -> SeedResult:
    team_home, laptop_home = home / "server", home / "laptop"
    team_home.mkdir(parents=True)
    backstory(team_home, "admin", "members", "add", SPACE, USER)
    token = json.loads(backstory(team_home, "token", "create", "--user", USER, "--json"))["token"]
    server = TeamServer(team_home)
    proxy = CuttingProxy(server.start(), seed)
    try:
        with closing(opened(laptop_home)) as engine:
            Spaces(engine).join(proxy.url, token, SPACE)
        proxy.share = CUT_SHARE
        written, laptop_kills, failed = work(laptop_home, server, seed, writes)
        proxy.share = 0.0
        failed += drain(laptop_home)
    finally:
        proxy.close()
        server.kill()
    lost, doubled = compare(team_home, written)
    corrections = sum(each["replaces"] is not None for each in written)
    return SeedResult(
        len(written), corrections, lost, doubled, proxy.cuts, laptop_kills, server.kills, failed
    )


def work(home: Path, server: TeamServer, seed: int, writes: int) -> tuple[list[dict[str, str]], int, int]:
    """Rounds of saving and delivering. Returns acknowledged writes, killed processes and failed deliveries."""
    random_ = random.Random(seed)
    written: list[dict[str, str]] = []
    number = kills = failed = 0
    while len(written) < writes:
        if random_.random() < RESTART_SHARE:
            server.restart()
        count = random_.randint(*WRITES_AT_ONCE)
        output, status = own_process(
            home, "--save", str(home), str(seed), str(number), str(count), kill_after_s=moment(random_)
        )
        number += count
        kills += status < 0
        written += [json.loads(line) for line in output.splitlines() if line.endswith("}")]
        output, status = own_process(home, "--deliver", str(home), kill_after_s=moment(random_))
        kills += status < 0
        failed += len(output.splitlines())
    return written, kills, failed


def moment(random_: random.Random) -> float | None:
    """Seconds after opening the store at which a process is killed; None for never."""
    return random_.uniform(0.0, 0.6) if random_.random() < KILLED_SHARE else None


def drain(home: Path) -> int:
    """Deliver what waits. Returns how often that failed."""
    failed, deadline = 0, time.monotonic() + DRAIN_S
    with closing(opened(home)) as engine:
        while engine.store.outgoing.all():
            if time.monotonic() > deadline:
                raise SystemExit("What waits was never delivered.")
            try:
                Spaces(engine).sync(Call(), is_forced=True)
            except BackstoryError:
                failed += 1
            time.sleep(0.1)  # a killed process may still have the lease
    return failed


def compare(home: Path, written: list[dict[str, str]]) -> tuple[int, int]:
    """The number of acknowledged texts that the server lacks, also in histories, and the number that it has twice."""
    texts: Counter[str] = Counter()
    with closing(opened(home, shared(SPACE))) as engine:
        memories = engine.store.memories.find(Filter(), Page())
        texts.update(memory.text for memory in memories)
        for memory in memories:
            texts.update(former.text for former in engine.store.memories.former(memory.id))
    wanted = {each["text"] for each in written}
    return sum(not texts[text] for text in wanted), sum(count > 1 for count in texts.values())


def main(words: list[str]) -> None:
    if words[:1] == ["--save"]:
        save(Path(words[1]), *map(int, words[2:]))
        return
    if words[:1] == ["--deliver"]:
        deliver(Path(words[1]))
        return
    if not words:
        raise SystemExit(__doc__)
    home, writes, seeds = (
        Path(words[0]),
        int(words[1]) if words[1:] else WRITES,
        [*map(int, words[2:])] or SEEDS,
    )
    results = []
    for seed in seeds:
        result = run_seed(home / f"seed-{seed}", seed, writes)
        results.append(result)
        print(
            f"seed {seed}: {', '.join(f'{name} {value}' for name, value in result._asdict().items())}",
            flush=True,
        )
    totals = [sum(column) for column in zip(*results, strict=True)]
    print(
        f"all: {', '.join(f'{name} {value}' for name, value in zip(SeedResult._fields, totals, strict=True))}"
    )
    sys.exit(1 if any(each.lost or each.doubled for each in results) else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
