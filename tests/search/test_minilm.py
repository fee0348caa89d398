"""The local model: vectors of meaning, the same for a text whoever embeds it and whatever beside it."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from backstory_minilm import model_path
from numpy.typing import NDArray

from backstory.domain.errors import Unavailable
from backstory.search.embed import Embedder, build_embedder
from backstory.search.minilm import GRAPHS, MiniLM
from backstory.settings import build_settings

from ..patience import PATIENCE_S

PLACES = {"home": ".", "project": "."}

TEXTS = [
    "How do I log in with a token?",
    "JWT expires after 24 hours; refresh tokens live in an HttpOnly cookie.",
    "The cat sat on the mat.",
    "A kitten is sleeping on the rug.",
    "def add(a: int, b: int) -> int:\n    return a + b",
    "Write a function that sums two integers",
    "Deploy failed: postgres migration 0042 timed out waiting for a lock",
    "The database schema change hung during the release because of a locked table",
    "Müller aß 東京 für 12,50 € 🎉",
    "",
    "no",
    "Rollback the release when the error rate exceeds two percent. " * 20,
]


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> MiniLM:
    """The model as its package ships it, in float32: our graph needs an operator that no build has."""
    graphs = tmp_path_factory.mktemp("graphs")
    shutil.copy(GRAPHS / "probe.onnx", graphs)
    for name in ("signed.onnx", "unsigned.onnx"):
        (graphs / name).write_bytes((GRAPHS / name).read_bytes().replace(b"QAttention", b"NoOperator"))
    return MiniLM(graphs=graphs)


def test_the_graphs_are_what_their_script_makes() -> None:
    script = Path(__file__).parents[2] / "scripts" / "make_minilm_graphs.py"
    made: dict[str, bytes] = runpy.run_path(str(script))["graphs"]()

    assert {path.stem: path.read_bytes() for path in GRAPHS.iterdir()} == made


def test_vectors_have_the_promised_shape_and_unit_length(minilm: MiniLM) -> None:
    vectors = minilm.embed(TEXTS)

    assert vectors.shape == (len(TEXTS), minilm.dimensions) == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert minilm.embed([]).shape == (0, 384)


def test_the_int8_graph_runs_here(minilm: MiniLM) -> None:
    minilm.embed(["load"])

    assert minilm.degraded == ""


def test_int8_vectors_are_those_of_the_packaged_graph(minilm: MiniLM, packaged: MiniLM) -> None:
    cosines = np.sum(minilm.embed(TEXTS) * packaged.embed(TEXTS), axis=1)

    assert cosines.mean() > 0.985
    assert cosines.min() > 0.97


def test_neighbours_are_those_of_the_packaged_graph(minilm: MiniLM, packaged: MiniLM) -> None:
    def nearest(vectors: NDArray[np.float32]) -> list[int]:
        return [int(n) for n in np.argmax(vectors @ vectors.T - 2 * np.eye(len(vectors)), axis=1)]

    pairs = TEXTS[:8]
    assert nearest(minilm.embed(pairs)) == nearest(packaged.embed(pairs)) == [1, 0, 3, 2, 5, 4, 7, 6]


def test_a_build_without_the_operators_runs_the_packaged_graph_and_says_so(packaged: MiniLM) -> None:
    assert packaged.embed(["still answers"]).shape == (1, 384)
    assert "NoOperator" in packaged.degraded


def test_unsigned_weights_for_older_processors_give_the_same_vectors(minilm: MiniLM, tmp_path: Path) -> None:
    shutil.copy(GRAPHS / "probe.onnx", tmp_path)
    for name in ("signed.onnx", "unsigned.onnx"):
        shutil.copy(GRAPHS / "unsigned.onnx", tmp_path / name)
    unsigned = MiniLM(graphs=tmp_path)

    assert float(unsigned.embed(TEXTS[1:2])[0] @ minilm.embed(TEXTS[1:2])[0]) > 0.999
    assert unsigned.degraded == ""


def test_a_text_has_one_vector_whatever_is_embedded_with_it(minilm: MiniLM) -> None:
    together = minilm.embed(TEXTS)
    alone = np.concatenate([minilm.embed([text]) for text in TEXTS])

    assert np.array_equal(together, alone)


def test_threads_that_ask_at_once_share_one_model() -> None:
    minilm = MiniLM()

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(minilm.embed, [TEXTS[:3]] * 8))

    assert all(np.array_equal(result, results[0]) for result in results)


def test_text_beyond_256_word_pieces_is_not_read(minilm: MiniLM) -> None:
    head = "token " * 254

    assert np.array_equal(minilm.embed([head])[0], minilm.embed([head + "something else entirely"])[0])


def test_another_file_than_the_tested_one_is_refused(tmp_path: Path) -> None:
    changed = tmp_path / "model.onnx"
    changed.write_bytes(model_path().read_bytes()[:-1] + b"\0")

    with pytest.raises(Unavailable, match="SHA-256"):
        MiniLM(changed).embed(["text"])


def test_a_missing_file_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be read"):
        MiniLM(tmp_path / "model.onnx").embed(["text"])


def test_building_the_embedder_loads_nothing_heavy() -> None:
    program = (
        "import sys; from backstory.search.embed import build_embedder; from backstory.settings import build_settings\n"
        "assert build_embedder(build_settings(defaults={'home': '.', 'project': '.'})).model == 'all-MiniLM-L6-v2'\n"
        "print([name for name in ('numpy', 'onnxruntime', 'urllib.request') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_numpy_is_whole_before_onnxruntime_asks_for_a_part_of_it() -> None:
    """Else a search in another thread, importing numpy at that moment, gets half of it."""
    program = (
        "import sys; from backstory.search.minilm import MiniLM\n"
        "class Watch:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'onnxruntime': print('numpy' in sys.modules)\n"
        "sys.meta_path.insert(0, Watch()); MiniLM().embed(['hello'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "True"


def test_embeddings_can_be_off() -> None:
    assert build_embedder(build_settings({"embeddings": "off"}, defaults=PLACES)) is None


def test_the_local_model_is_the_default() -> None:
    embedder: Embedder | None = build_embedder(build_settings(defaults=PLACES))

    assert isinstance(embedder, MiniLM)


def test_the_model_leaves_nothing_in_the_users_home_and_reports_nothing(tmp_path: Path) -> None:
    """onnxruntime keeps quiet by itself only where it believes to run in CI, so that is taken away here."""
    code = "from backstory.search.minilm import MiniLM; print(MiniLM().embed(['hello']).shape)"
    kept = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= dict.fromkeys(("HOME", "USERPROFILE", "XDG_CACHE_HOME"), str(tmp_path / "home"))
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.stdout == "(1, 384)\n", done.stderr
    assert list(tmp_path.iterdir()) == []
