"""Make the graphs that run all-MiniLM-L6-v2: int8 operators over the weights in the packaged model's own file.

    python scripts/make_minilm_graphs.py

The packaged graph turns its int8 weights into float32 and multiplies those; ours multiply them as they are, which takes a
quarter of the processor time. They contain no weights, only their offsets in the packaged file, so they are valid for that
one file, whose checksum is tested before every load. The numbers of fields are those of `onnx.proto3`.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Sequence

from backstory_minilm import model_path

from backstory.readers.formats.protobuf import BYTES, FIXED32, VARINT, message_in
from backstory.search.minilm import GRAPHS, MAX_INPUT_TOKENS, PROBE_SIZE, SHA256

LAYERS, HEADS, WIDTH = 6, 12, 384
EPSILON = 1e-12  # of every layer normalisation in BERT
WORDS = 30_522

FLOAT, UINT8, INT8, INT64 = 1, 2, 3, 7  # data types
SIZES = {FLOAT: 4, UINT8: 1, INT8: 1, INT64: 8}
IR_VERSION = 9
FUSED = "com.microsoft"  # the domain of ONNX Runtime's own operators
OPSETS = {"": 18, FUSED: 1}

# the matrices of a layer: where their biases are named, in the order in which the file holds the weights
MATRICES = {
    "attention.self.query": (WIDTH, WIDTH),
    "attention.self.key": (WIDTH, WIDTH),
    "attention.self.value": (WIDTH, WIDTH),
    "attention.output.dense": (WIDTH, WIDTH),
    "intermediate.dense": (WIDTH, 4 * WIDTH),
    "output.dense": (4 * WIDTH, WIDTH),
}


class PackagedFile:
    """The offsets of each tensor in the one known file."""

    def __init__(self) -> None:
        self.path = model_path()
        content = self.path.read_bytes()
        assert hashlib.sha256(content).hexdigest() == SHA256
        model = message_in(content)
        assert model is not None
        tensors = {tensor.text(8): next(tensor.each(9), b"") for tensor in model.message(7).messages(5)}
        self.places = {name: (content.find(raw), len(raw)) for name, raw in tensors.items()}
        # the exporter named weights by a running number (`val_49_q`), and biases by what they are
        numbers = sorted(
            int(name[4:-2]) for name in tensors if name.startswith("val_") and name.endswith("_q")
        )
        self.matrices = [f"val_{number}" for number in numbers]


class OnnxGraph:
    """A graph under construction: values are named by the strings that its methods return."""

    def __init__(self, file: PackagedFile) -> None:
        self._file = file
        self._nodes: list[bytes] = []
        self._constants: dict[str, bytes] = {}

    def weight(self, name: str, kind: int, *shape: int) -> str:
        """A tensor of the packaged file, or its first rows."""
        start, size = self._file.places[name]
        length = math.prod(shape) * SIZES[kind]
        assert 0 < length <= size
        place = {"location": self._file.path.name, "offset": str(start), "length": str(length)}
        entries = b"".join(_field(13, _text(1, key) + _text(2, value)) for key, value in place.items())
        self._constants[name] = _tensor(name, kind, shape) + entries + _number(14, 1)
        return name

    def constant(self, name: str, kind: int, shape: Sequence[int], raw: bytes) -> str:
        self._constants[name] = _tensor(name, kind, shape) + _field(9, raw)
        return name

    def apply(self, operator: str, *inputs: str, domain: str = "", **attributes: float) -> str:
        """The output of one operator; an empty input is an optional one left out."""
        return self.apply_many(operator, *inputs, outputs=1, domain=domain, **attributes)[0]

    def apply_many(
        self, operator: str, *inputs: str, outputs: int, domain: str = "", **attributes: float
    ) -> list[str]:
        names = [f"{operator}_{len(self._nodes)}_{index}" for index in range(outputs)]
        node = [_text(1, name) for name in inputs] + [_text(2, name) for name in names] + [_text(4, operator)]
        node += [_field(5, _attribute(name, value)) for name, value in attributes.items()]
        self._nodes.append(b"".join([*node, _text(7, domain)]))
        return names

    def model(self, name: str, kind: int, shape: Sequence[str | int], output: str) -> bytes:
        """The finished model of one input, with an output of floats."""
        graph = [_field(1, node) for node in self._nodes] + [_text(2, "graph")]
        graph += [_field(5, constant) for constant in self._constants.values()]
        graph += [_field(11, _value(name, kind, shape)), _field(12, _value(output, FLOAT, ()))]
        opsets = [_field(8, _text(1, domain) + _number(2, version)) for domain, version in OPSETS.items()]
        return b"".join([_number(1, IR_VERSION), _field(7, b"".join(graph)), *opsets])


class MiniLMGraph:
    """Ids of one text (1, length) → its vector (1, 384), of unit length.

    One text at a time, so there is no padding and no mask, and the range that activations are quantised to
    never depends on the other texts of a batch. What is made of weights alone, ONNX Runtime makes once, at the load.
    """

    def __init__(self, file: PackagedFile, *, unsigned: bool) -> None:
        self._graph = OnnxGraph(file)
        self._file = file
        self._kind = UINT8 if unsigned else INT8

    def model(self) -> bytes:
        graph = self._graph
        self._zero = graph.constant("zero", self._kind, (), b"\x80" if self._kind == UINT8 else b"\0")
        hidden = self._normalise(self._embedded("ids"), "inner.embeddings.LayerNorm")
        for layer in range(LAYERS):
            hidden = self._layer(hidden, layer)
        mean = graph.apply("ReduceMean", hidden, self._integers("length axis", 1), keepdims=0)
        vector = graph.apply("LpNormalization", mean, axis=-1, p=2)
        return graph.model("ids", INT64, (1, "length"), vector)

    def _embedded(self, ids: str) -> str:
        graph, prefix = self._graph, "inner.embeddings"
        rows, scales = self._quantised(f"{prefix}.word_embeddings", WORDS)
        rows = graph.apply("Gather", rows, ids)
        words = graph.apply("Mul", self._floats(rows), graph.apply("Gather", scales, ids))
        rows, scales = self._quantised(f"{prefix}.position_embeddings", MAX_INPUT_TOKENS)
        first_sentence = graph.weight(f"{prefix}.token_type_embeddings.weight", FLOAT, WIDTH)  # never pairs
        positions = graph.apply("Add", graph.apply("Mul", self._floats(rows), scales), first_sentence)
        length = graph.apply("Shape", ids, start=1)
        used = graph.apply("Slice", positions, self._integers("start", 0), length, self._integers("axis", 0))
        return graph.apply("Add", words, used)

    def _quantised(self, name: str, count: int) -> tuple[str, str]:
        return (
            self._graph.weight(f"{name}.weight_q", INT8, count, WIDTH),
            self._graph.weight(f"{name}.weight_scale", FLOAT, count, 1),
        )

    def _floats(self, value: str) -> str:
        return self._graph.apply("Cast", value, to=FLOAT)

    def _integers(self, name: str, *values: int) -> str:
        return self._graph.constant(name, INT64, (len(values),), struct.pack(f"<{len(values)}q", *values))

    def _layer(self, hidden: str, layer: int) -> str:
        graph, prefix = self._graph, f"inner.encoder.layer.{layer}"
        *query_key_value, project, widen, narrow = self._matrices(layer)
        attended = self._multiply(self._attend(hidden, query_key_value), project)
        # with the fused SkipLayerNormalization in place of these two the whole model takes a third longer
        hidden = graph.apply("Add", attended, hidden)
        hidden = self._normalise(hidden, f"{prefix}.attention.output.LayerNorm")
        widened = graph.apply("Gelu", self._multiply(hidden, widen), domain=FUSED)
        hidden = graph.apply("Add", self._multiply(widened, narrow), hidden)
        return self._normalise(hidden, f"{prefix}.output.LayerNorm")

    def _matrices(self, layer: int) -> list[tuple[str, str, str]]:
        """Weights of shape (inputs, outputs) with a scale and a bias for each output."""
        names = self._file.matrices[layer * len(MATRICES) :]
        return [
            (
                self._integer_weights(f"{number}_q", shape),
                self._graph.weight(f"{number}_scale", FLOAT, shape[1]),
                self._graph.weight(f"inner.encoder.layer.{layer}.{name}.bias", FLOAT, shape[1]),
            )
            for (name, shape), number in zip(MATRICES.items(), names, strict=False)
        ]

    def _integer_weights(self, name: str, shape: tuple[int, int]) -> str:
        """As they are, or shifted to 0 to 255."""
        weights = self._graph.weight(name, INT8, *shape)
        if self._kind == INT8:
            return weights
        return self._graph.apply("BitwiseXor", self._graph.apply("Cast", weights, to=UINT8), self._zero)

    def _attend(self, hidden: str, matrices: Sequence[tuple[str, str, str]]) -> str:
        graph = self._graph
        weights, scales, bias = (
            graph.apply("Concat", *parts, axis=-1) for parts in zip(*matrices, strict=True)
        )
        quantised, scale, zero = graph.apply_many("DynamicQuantizeLinear", hidden, outputs=3)
        no_mask = ""
        inputs = (quantised, weights, bias, scale, scales, no_mask, zero, self._zero)
        return graph.apply("QAttention", *inputs, domain=FUSED, num_heads=HEADS)

    def _multiply(self, hidden: str, matrix: tuple[str, str, str]) -> str:
        weights, scales, bias = matrix
        inputs = (hidden, weights, scales, self._zero, bias)
        return self._graph.apply("DynamicQuantizeMatMul", *inputs, domain=FUSED)

    def _normalise(self, hidden: str, name: str) -> str:
        weight = self._graph.weight(f"{name}.weight", FLOAT, WIDTH)
        bias = self._graph.weight(f"{name}.bias", FLOAT, WIDTH)
        return self._graph.apply("LayerNormalization", hidden, weight, bias, axis=-1, epsilon=EPSILON)


def probe(file: PackagedFile) -> bytes:
    """Sums each row of its input, in the largest signed weights there are.

    x86 processors without VNNI add pairs of such products in 16 bits and return about half the sum.
    """
    graph, size = OnnxGraph(file), PROBE_SIZE
    weights = graph.constant("weights", INT8, (size, size), bytes([127]) * size * size)
    scales = graph.constant("scales", FLOAT, (size,), struct.pack("<f", 1 / 127) * size)
    sums = graph.apply("DynamicQuantizeMatMul", "rows", weights, scales, domain=FUSED)
    return graph.model("rows", FLOAT, (size, size), sums)


def graphs() -> dict[str, bytes]:
    file = PackagedFile()
    return {
        "signed": MiniLMGraph(file, unsigned=False).model(),
        "unsigned": MiniLMGraph(file, unsigned=True).model(),
        "probe": probe(file),
    }


def _tensor(name: str, kind: int, shape: Sequence[int]) -> bytes:
    return b"".join([*(_number(1, size) for size in shape), _number(2, kind), _text(8, name)])


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _key(2, FIXED32) + struct.pack("<f", value) + _number(20, 1)
    return _text(1, name) + _number(3, value) + _number(20, 2)


def _value(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    """A named value of the graph; a size given as text may differ from run to run."""
    sizes = [_text(2, size) if isinstance(size, str) else _number(1, size) for size in shape]
    dimensions = b"".join(_field(1, size) for size in sizes)
    tensor = _number(1, kind) + (_field(2, dimensions) if shape else b"")
    return _text(1, name) + _field(2, _field(1, tensor))


def _field(number: int, message: bytes) -> bytes:
    return _key(number, BYTES) + _varint(len(message)) + message


def _text(number: int, value: str) -> bytes:
    return _field(number, value.encode())


def _number(number: int, value: int) -> bytes:
    return _key(number, VARINT) + _varint(value)


def _key(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # protobuf writes a negative number as its 64-bit two's complement
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


if __name__ == "__main__":
    for name, model in graphs().items():
        (GRAPHS / f"{name}.onnx").write_bytes(model)
