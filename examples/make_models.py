#!/usr/bin/env python3
"""Writes the two example models that are no more than their formula: add_sub and identity_fp32.

Needs the package onnx. The files in the repository are its output; writing them again gives the same bytes.
"""
import pathlib

from onnx import TensorProto, checker, helper

MODELS = pathlib.Path(__file__).parent / "models"


def rows(name, width):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", width])


def save(name, nodes, inputs, outputs):
    graph = helper.make_graph(nodes, name, inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="conch")
    checker.check_model(model)
    path = MODELS / name / "1" / "model.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString(deterministic=True))


save(
    "add_sub",
    [helper.make_node("Add", ["INPUT0", "INPUT1"], ["OUTPUT0"]), helper.make_node("Sub", ["INPUT0", "INPUT1"], ["OUTPUT1"])],
    [rows("INPUT0", 16), rows("INPUT1", 16)],
    [rows("OUTPUT0", 16), rows("OUTPUT1", 16)],
)
save("identity_fp32", [helper.make_node("Identity", ["IN"], ["OUT"])], [rows("IN", "width")], [rows("OUT", "width")])
