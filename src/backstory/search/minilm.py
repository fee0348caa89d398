"""The model on this machine: all-MiniLM-L6-v2, int8, on one processor core.

What runs are our own graphs (`onnx/`, made by scripts/make_minilm_graphs.py), which find the weights in the packaged file.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..domain.arrays import np
from ..domain.errors import Unavailable
from .wordpiece import bert_wordpiece

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .wordpiece import WordPiece

    Network = Callable[[list[int]], NDArray[np.float32]]

MODEL, DIMENSIONS = "all-MiniLM-L6-v2", 384
MAX_INPUT_TOKENS = 256  # word pieces; the model was trained on no longer texts
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
GRAPHS = Path(__file__).with_name("onnx")
WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
PROBE_SIZE = 64


class MiniLM:
    """The local embedding model, loaded once at the first `embed`.

    If this build of ONNX Runtime cannot run the int8 graph, the slower packaged graph is used, and `degraded` gives
    the reason; its vectors belong to the same space."""

    model = MODEL
    dimensions = DIMENSIONS
    at_once = 1

    def __init__(self, path: Path | None = None, graphs: Path = GRAPHS) -> None:
        self.degraded = ""
        self._path = path
        self._graphs = graphs
        self._loading = threading.Lock()
        self._loaded: tuple[WordPiece, Network] | None = None

    @property
    def is_loaded(self) -> bool:
        return self._loaded is not None

    def load(self) -> None:
        self._load()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        tokenizer, network = self._load()
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = network(tokenizer.encode(text, MAX_INPUT_TOKENS))
        return vectors

    def _load(self) -> tuple[WordPiece, Network]:
        # import numpy before onnxruntime, which imports a submodule of numpy first: during another thread's `import numpy`
        # Python then breaks the tie of the two locks by giving one of them half a module
        _ = np.float32
        with self._loading:
            if self._loaded is None:
                self._loaded = bert_wordpiece(), self._open_network()
            return self._loaded

    def _open_network(self) -> Network:
        _silence_telemetry()
        try:
            # 60 ms, after telemetry is switched off; the package may be missing, for which a hint is given
            from onnxruntime.capi import onnxruntime_pybind11_state as refusals

            path = self._path or _packaged_path()
        except ImportError as error:
            raise Unavailable(
                f"The local embedding model cannot be loaded: {error}.",
                hint='Reinstall backstory, or set embeddings to "endpoint" or "off".',
            ) from error
        _check(path)
        try:
            return _int8_network(path.parent, self._graphs)
        except (
            refusals.Fail,
            refusals.InvalidGraph,
            refusals.NotImplemented,
            refusals.RuntimeException,
        ) as error:
            self.degraded = f"The packaged graph runs in place of the faster one: {error}"
            return _packaged_network(path)


def _silence_telemetry() -> None:
    """Turn off the telemetry of onnxruntime: since 1.29 it reports its use over the network and stores an id in the
    user's home, unless this variable is set before it is loaded."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # noqa: TID251  (it is written, not read)


def _packaged_path() -> Path:
    from backstory_minilm import model_path  # a package that may be missing, for which a hint is given

    path: Path = model_path()
    return path


def _check(path: Path) -> None:
    """Any other file than the one we know is refused."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise Unavailable(
            f"The local embedding model cannot be read: {error}.", hint="Reinstall backstory-minilm."
        ) from error
    if digest != SHA256:
        raise Unavailable(
            f"{path.name} is not the model that was tested: its SHA-256 is {digest}.",
            hint="Reinstall backstory-minilm.",
        )


def _int8_network(weights: Path, graphs: Path) -> Network:
    name = "unsigned" if _signed_products_overflow(graphs) else "signed"
    session = _session(graphs / f"{name}.onnx", weights)

    def run(ids: list[int]) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = session.run(None, {"ids": np.array([ids])})[0][0]
        return vector

    return run


def _signed_products_overflow(graphs: Path) -> bool:
    """Return whether the processor overflows at sums of signed products.

    A test computation decides, because ONNX Runtime misjudges the newest processors."""
    ones = np.ones((PROBE_SIZE, PROBE_SIZE), np.float32)
    sums = _session(graphs / "probe.onnx").run(None, {"rows": ones})[0]
    return not np.allclose(sums, PROBE_SIZE, rtol=0.01)


def _packaged_network(path: Path) -> Network:
    session = _session(path)

    def run(ids: list[int]) -> NDArray[np.float32]:
        tokens = np.array([ids])
        inputs = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        mean = session.run(None, inputs)[0][0].mean(axis=0)
        vector: NDArray[np.float32] = mean / np.linalg.norm(mean)
        return vector

    return run


def _session(graph: Path, weights: Path | None = None) -> Any:
    import onnxruntime  # 60 ms, and the model may be off

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # a refusal is an exception here, not a line on standard error
    if weights is not None:
        options.add_session_config_entry(WEIGHTS_FOLDER, str(weights))
    # constants are computed once, here; none of our operators is replaced
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(graph.read_bytes(), options, providers=["CPUExecutionProvider"])
