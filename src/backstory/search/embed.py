"""The Embedder contract: text to vectors, by the model on this machine or by an endpoint.

This module is on the way to the first answer, so it imports nothing heavy; an embedder loads its model at the
first `embed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from ..domain.arrays import np
from ..domain.errors import BackstoryError, Unavailable
from ..settings import Settings, required
from .endpoint import Endpoint
from .minilm import MiniLM
from .remote import Remote

if TYPE_CHECKING:
    from numpy.typing import NDArray


LOCAL_MODEL = {"onnxruntime": "onnxruntime", "backstory_minilm": "backstory-minilm"}
"""The packages of the model on this machine, by module. backstory-lite does without them."""


class Embedder(Protocol):
    """Safe to use from many threads at once."""

    @property
    def model(self) -> str:
        """The name of the vector space. Vectors of different models are never compared."""

    @property
    def at_once(self) -> int:
        """The best batch size: large batches save an endpoint's round trips, small ones can be cancelled sooner."""

    @property
    def dimensions(self) -> int:
        """The length of every vector. May ask the endpoint the first time; raises Unavailable."""

    @property
    def is_loaded(self) -> bool:
        """True if `embed` can begin at once."""

    def load(self) -> None:
        """Get ready for `embed`, which does so itself otherwise. Raises Unavailable."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of unit length for each text, in their order. Raises Unavailable."""


def embed_texts(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """A vector for each text, as rows. Raises Unavailable for every error, so that search continues by words."""
    try:
        vectors = embedder.embed(texts)
    except BackstoryError:
        raise
    except Exception as error:
        raise Unavailable(f"The embedding model failed: {type(error).__name__}.") from error
    if len(vectors) != len(texts):
        raise Unavailable(f"The embedding model gave {len(vectors)} vectors for {len(texts)} texts.")
    return vectors


def missing_packages() -> list[str]:
    """Packages that the local model needs and that are not installed."""
    return [package for module, package in LOCAL_MODEL.items() if find_spec(module) is None]


def reason_for_words_only() -> str:
    """The reason why a process has no embedder."""
    missing = missing_packages()
    return f"{missing[0]} is not installed" if missing else "embeddings are switched off"


def build_embedder(settings: Settings) -> Embedder | None:
    """The embedder the settings ask for; None when they turn embeddings off, or when the local model is not installed."""
    if settings.embeddings == "off":
        return None
    if settings.embeddings == "local":
        if missing_packages():
            return None
        return MiniLM()
    remote = Remote(
        name="embeddings",
        url=required(settings, "embeddings_url"),
        path="/embeddings",
        key=settings.embeddings_key,
        timeout_s=settings.embeddings_timeout_s,
    )
    return Endpoint(remote, required(settings, "embeddings_model"))
