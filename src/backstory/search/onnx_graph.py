"""Read the tensors of an ONNX file and write small ONNX graphs, in the few protobuf fields that takes.

The numbers below are those of `onnx.proto3`; only what our two graphs need is here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..domain.protobuf import BYTES, FIXED32, VARINT, read_fields, read_varints

Tensor = NDArray[Any]
Attribute = int | float
Message = list[bytes | memoryview]
"""A message in parts, joined once at the end: the weights are copied once, not at every level of nesting."""

# ONNX data types, as numpy knows them; others are skipped when reading
DATA_TYPES = {1: "<f4", 2: "u1", 3: "i1", 6: "<i4", 7: "<i8"}
DATA_TYPE_NUMBERS = {np.dtype(name): number for number, name in DATA_TYPES.items()}
FLOAT = 1

IR_VERSION = 9
FUSED = "com.microsoft"  # the domain of ONNX Runtime's own operators
OPSETS = {"": 18, FUSED: 1}


def read_tensors(model: memoryview) -> dict[str, Tensor]:
    """The initializers of a model by name: views of `model`, nothing is copied."""
    tensors = {}
    for graph in _messages(model, 7):
        for tensor in _messages(graph, 5):
            name, values = _read_tensor(tensor)
            if values is not None:
                tensors[name] = values
    return tensors


def _read_tensor(message: memoryview) -> tuple[str, Tensor | None]:
    shape: list[int] = []
    name, data_type, raw = "", 0, memoryview(b"")
    for number, value in read_fields(message):
        if number == 1:
            shape += [value] if isinstance(value, int) else read_varints(value)
        elif number == 2 and isinstance(value, int):
            data_type = value
        elif number == 8 and not isinstance(value, int):
            name = str(value, "utf-8")
        elif number == 9 and not isinstance(value, int):
            raw = value
    if data_type not in DATA_TYPES:
        return name, None
    return name, np.frombuffer(raw, DATA_TYPES[data_type]).reshape(shape)


def _messages(message: memoryview, wanted: int) -> Iterator[memoryview]:
    return (
        value for number, value in read_fields(message) if number == wanted and not isinstance(value, int)
    )


class OnnxGraph:
    """A graph under construction: values are named by the strings that `constant` and `apply` return."""

    def __init__(self) -> None:
        self._nodes: list[Message] = []
        self._constants: dict[str, Message] = {}

    def constant(self, name: str, values: Tensor) -> str:
        if name not in self._constants:
            shape = [_number(1, size) for size in values.shape]
            kind = _number(2, DATA_TYPE_NUMBERS[values.dtype])
            raw = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
            self._constants[name] = [*shape, kind, *_text(8, name), *_field(9, [raw])]
        return name

    def apply(self, operator: str, *inputs: str, domain: str = "", **attributes: Attribute) -> str:
        """The output of one operator; an empty input is an optional one left out."""
        return self.apply_many(operator, *inputs, outputs=1, domain=domain, **attributes)[0]

    def apply_many(
        self, operator: str, *inputs: str, outputs: int, domain: str = "", **attributes: Attribute
    ) -> list[str]:
        names = [f"{operator}_{len(self._nodes)}_{index}" for index in range(outputs)]
        node = [part for name in inputs for part in _text(1, name)]
        node += [part for name in names for part in _text(2, name)]
        node += _text(4, operator)
        for name, value in attributes.items():
            node += _field(5, _attribute(name, value))
        self._nodes.append([*node, *_text(7, domain)])
        return names

    def model(self, inputs: Mapping[str, tuple[int, Sequence[str | int]]], output: str) -> bytes:
        """The finished model. Inputs are name → (data type, shape); the output is float."""
        graph = [part for node in self._nodes for part in _field(1, node)]
        graph += _text(2, "graph")
        for constant in self._constants.values():
            graph += _field(5, constant)
        for name, (kind, shape) in inputs.items():
            graph += _field(11, _value(name, kind, shape))
        graph += _field(12, _value(output, FLOAT, ()))
        opsets = [
            part
            for domain, version in OPSETS.items()
            for part in _field(8, [*_text(1, domain), _number(2, version)])
        ]
        return b"".join([_number(1, IR_VERSION), *_field(7, graph), *opsets])


def _attribute(name: str, value: Attribute) -> Message:
    if isinstance(value, float):
        return [*_text(1, name), _key(2, FIXED32), struct.pack("<f", value), _number(20, 1)]
    return [*_text(1, name), _number(3, value), _number(20, 2)]


def _value(name: str, data_type: int, shape: Sequence[str | int]) -> Message:
    """A named value of the graph; a size given as text may differ from run to run."""
    tensor: Message = [_number(1, data_type)]
    if shape:
        tensor += _field(2, [part for size in shape for part in _field(1, _size(size))])
    return [*_text(1, name), *_field(2, _field(1, tensor))]


def _size(size: str | int) -> Message:
    return _text(2, size) if isinstance(size, str) else [_number(1, size)]


def _field(number: int, message: Message) -> Message:
    return [_key(number, BYTES) + _encode(sum(map(len, message))), *message]


def _text(number: int, value: str) -> Message:
    return _field(number, [value.encode()])


def _number(number: int, value: int) -> bytes:
    return _key(number, VARINT) + _encode(value)


def _key(number: int, wire_type: int) -> bytes:
    return _encode(number << 3 | wire_type)


def _encode(value: int) -> bytes:
    value &= (1 << 64) - 1  # protobuf writes a negative number as its 64-bit two's complement
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
