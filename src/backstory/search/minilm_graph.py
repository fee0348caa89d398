"""all-MiniLM-L6-v2 as a graph of int8 operators, made from the int8 weights of the packaged model.

The packaged graph turns its int8 weights into float32 and multiplies those. This one multiplies them as
they are, which takes a quarter of the processor time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .onnx_graph import FLOAT, FUSED, OnnxGraph, Tensor

LAYERS, HEADS, DIMENSIONS = 6, 12, 384
EPSILON = 1e-12  # of every layer normalisation in BERT
INPUT = "embedded"
PROBE_SIZE = 64

# the matrices of a layer: where their biases are named, in the order in which the file holds the weights
MATRICES = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Weights of shape (inputs, outputs) with one scale for each output; `zero` is the weight that means 0."""

    name: str
    weights: Tensor
    scales: Tensor
    bias: Tensor
    zero: Tensor

    def unsigned(self) -> Matrix:
        """The same matrix in weights from 0 to 255."""
        weights = (self.weights ^ np.int8(-128)).view(np.uint8)
        return Matrix(self.name, weights, self.scales, self.bias, np.array(128, np.uint8))


@dataclass(frozen=True, slots=True)
class TokenTable:
    """The first step of the model: a row for each token id. It stays outside the graph, in the mapped file,
    so that every process on the machine shares it and only the rows in use are ever read."""

    rows: Tensor
    scales: Tensor
    positions: Tensor

    def look_up(self, ids: list[int]) -> NDArray[np.float32]:
        embedded: NDArray[np.float32] = self.rows[ids] * self.scales[ids] + self.positions[: len(ids)]
        return embedded


def token_table(tensors: Mapping[str, Tensor]) -> TokenTable:
    prefix = "inner.embeddings"
    positions = tensors[f"{prefix}.position_embeddings.weight_q"]
    scales = tensors[f"{prefix}.position_embeddings.weight_scale"]
    first_sentence = tensors[f"{prefix}.token_type_embeddings.weight"][0]  # we never embed pairs
    return TokenTable(
        rows=tensors[f"{prefix}.word_embeddings.weight_q"],
        scales=tensors[f"{prefix}.word_embeddings.weight_scale"],
        positions=positions * scales + first_sentence,
    )


def fused_graph(tensors: Mapping[str, Tensor], *, unsigned: bool) -> bytes:
    """Rows of the token table for one text (1, length, 384) → its vector (1, 384), of unit length.

    One text at a time, so there is no padding and no mask, and the range that activations are quantised to
    never depends on the other texts of a batch.
    """
    graph = OnnxGraph()
    hidden = _normalise(graph, INPUT, tensors, "inner.embeddings.LayerNorm")
    for layer in range(LAYERS):
        matrices = _matrices(tensors, layer)
        if unsigned:
            matrices = [matrix.unsigned() for matrix in matrices]
        hidden = _layer(graph, hidden, tensors, f"inner.encoder.layer.{layer}", matrices)
    mean = graph.apply("ReduceMean", hidden, graph.constant("length axis", np.array([1])), keepdims=0)
    vector = graph.apply("LpNormalization", mean, axis=-1, p=2)
    return graph.model({INPUT: (FLOAT, (1, "length", DIMENSIONS))}, vector)


def probe_graph() -> bytes:
    """Sums each row of its input (64, 64), in the largest signed weights there are.

    x86 processors without VNNI add pairs of such products in 16 bits and return about half the sum.
    """
    graph = OnnxGraph()
    weights = np.full((PROBE_SIZE, PROBE_SIZE), 127, np.int8)
    scales = np.full(PROBE_SIZE, 1 / 127, np.float32)
    matrix = Matrix("ones", weights, scales, np.zeros(PROBE_SIZE, np.float32), np.array(0, np.int8))
    return graph.model({INPUT: (FLOAT, (PROBE_SIZE, PROBE_SIZE))}, _multiply(graph, INPUT, matrix))


def _layer(
    graph: OnnxGraph, hidden: str, tensors: Mapping[str, Tensor], prefix: str, matrices: list[Matrix]
) -> str:
    *query_key_value, project, widen, narrow = matrices
    attended = _multiply(graph, _attend(graph, hidden, _side_by_side(query_key_value)), project)
    # with the fused SkipLayerNormalization in place of these two the whole model takes a third longer
    hidden = graph.apply("Add", attended, hidden)
    hidden = _normalise(graph, hidden, tensors, f"{prefix}.attention.output.LayerNorm")
    widened = graph.apply("Gelu", _multiply(graph, hidden, widen), domain=FUSED)
    hidden = graph.apply("Add", _multiply(graph, widened, narrow), hidden)
    return _normalise(graph, hidden, tensors, f"{prefix}.output.LayerNorm")


def _matrices(tensors: Mapping[str, Tensor], layer: int) -> list[Matrix]:
    """The exporter named weights by a running number (`val_49_q`), and biases by what they are."""
    numbers = sorted(int(name[4:-2]) for name in tensors if name.startswith("val_") and name.endswith("_q"))
    of_this_layer = numbers[layer * len(MATRICES) : (layer + 1) * len(MATRICES)]
    return [
        Matrix(
            name=f"inner.encoder.layer.{layer}.{name}",
            weights=tensors[f"val_{number}_q"],
            scales=tensors[f"val_{number}_scale"].reshape(-1),
            bias=tensors[f"inner.encoder.layer.{layer}.{name}.bias"],
            zero=np.array(0, np.int8),
        )
        for name, number in zip(MATRICES, of_this_layer, strict=True)
    ]


def _side_by_side(matrices: list[Matrix]) -> Matrix:
    return Matrix(
        name=matrices[0].name,
        weights=np.concatenate([matrix.weights for matrix in matrices], axis=1),
        scales=np.concatenate([matrix.scales for matrix in matrices]),
        bias=np.concatenate([matrix.bias for matrix in matrices]),
        zero=matrices[0].zero,
    )


def _attend(graph: OnnxGraph, hidden: str, matrix: Matrix) -> str:
    quantised, scale, zero = graph.apply_many("DynamicQuantizeLinear", hidden, outputs=3)
    weights, scales, weights_zero, bias = _constants(graph, matrix)
    no_mask = ""
    inputs = (quantised, weights, bias, scale, scales, no_mask, zero, weights_zero)
    return graph.apply("QAttention", *inputs, domain=FUSED, num_heads=HEADS)


def _multiply(graph: OnnxGraph, hidden: str, matrix: Matrix) -> str:
    return graph.apply("DynamicQuantizeMatMul", hidden, *_constants(graph, matrix), domain=FUSED)


def _constants(graph: OnnxGraph, matrix: Matrix) -> tuple[str, str, str, str]:
    return (
        graph.constant(f"{matrix.name}.weights", matrix.weights),
        graph.constant(f"{matrix.name}.scales", matrix.scales),
        graph.constant("zero", matrix.zero),
        graph.constant(f"{matrix.name}.bias", matrix.bias),
    )


def _normalise(graph: OnnxGraph, hidden: str, tensors: Mapping[str, Tensor], name: str) -> str:
    weight = graph.constant(f"{name}.weight", tensors[f"{name}.weight"])
    bias = graph.constant(f"{name}.bias", tensors[f"{name}.bias"])
    return graph.apply("LayerNormalization", hidden, weight, bias, axis=-1, epsilon=EPSILON)
