"""TorchScript, exported programs and modules: `python make_pytorch.py DIRECTORY`."""

from __future__ import annotations

import os
import shutil

import numpy as np
import torch
from repository import Repository, parameter, tensor
from torch import nn

rng = np.random.default_rng(0)
made = Repository(["torch", "numpy"])
x = rng.standard_normal((3, 4)).astype(np.float32)
y = rng.standard_normal((3, 4)).astype(np.float32)


class Two(nn.Module):
    def forward(self, left: torch.Tensor, right: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return left + right, left - right


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 16)
        self.second = nn.Linear(16, 3)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.second(torch.relu(self.first(features))), dim=1)


class Words(nn.Module):
    def forward(self, words: list[str]) -> list[str]:
        return [word.upper() for word in words]


class ByName(nn.Module):
    def forward(self, tensors: dict[str, torch.Tensor]) -> torch.Tensor:
        return tensors["a"] * tensors["b"]


class Nested(nn.Module):
    def forward(self, one: torch.Tensor, rest: dict[str, torch.Tensor], scale: torch.Tensor):
        return {"sum": (one + rest["k"]) * scale, "pair": [one, rest["k"]]}


def script(name: str, module: nn.Module, config: str) -> None:
    directory = made.add(name, 'platform: "pytorch_libtorch"\n' + config)
    torch.jit.script(module.eval()).save(os.path.join(directory, "model.pt"))


def pair(kind: str, names: list[str], dims: list[int]) -> str:
    return "".join(tensor(kind, name, "FP32", dims) for name in names)


torch.manual_seed(0)
sums = {"OUTPUT__0": x + y, "OUTPUT__1": x - y}

script("ts_index", Two(), "max_batch_size: 8\ndynamic_batching {}\n" + pair("input", ["INPUT__1", "INPUT__0"], [4]) + pair("output", ["OUTPUT__1", "OUTPUT__0"], [4]))
made.ask("ts_index", "TorchScript, INPUT__0 and OUTPUT__0", {"INPUT__0": x, "INPUT__1": y}, sums)

script("ts_arguments", Two(), "max_batch_size: 8\n" + pair("input", ["right", "left"], [4]) + pair("output", ["OUTPUT__0", "OUTPUT__1"], [4]))
made.ask("ts_arguments", "TorchScript, names of forward's arguments", {"left": x, "right": y}, sums)

script("ts_order", Two(), "max_batch_size: 8\n" + pair("input", ["A", "B"], [4]) + pair("output", ["SUM", "DIFFERENCE"], [4]))
made.ask("ts_order", "TorchScript, order of the configuration", {"A": x, "B": y}, {"SUM": x + y, "DIFFERENCE": x - y})

network = Network().eval()
options = "".join(parameter(*one) for one in (("INFERENCE_MODE", "false"), ("DISABLE_OPTIMIZED_EXECUTION", "true"), ("INTRA_OP_THREAD_COUNT", "1"), ("INTER_OP_THREAD_COUNT", "1"), ("ENABLE_TENSOR_FUSER", "false")))
script("ts_options", network, "max_batch_size: 8\ninstance_group { count: 2 kind: KIND_CPU }\n" + tensor("input", "features", "FP32", [4]) + tensor("output", "OUTPUT__0", "FP32", [3]) + options)
with torch.no_grad():
    scores = network(torch.from_numpy(x)).numpy()
made.ask("ts_options", "TorchScript, options of the original, two instances", {"features": x}, {"OUTPUT__0": scores})

script("ts_words", Words(), "max_batch_size: 0\n" + tensor("input", "words", "STRING", [-1]) + tensor("output", "OUTPUT__0", "STRING", [-1]))
made.ask("ts_words", "TorchScript, texts", {"words": np.array(["ab", "é"])}, {"OUTPUT__0": np.array(["AB", "é"])})

script("ts_dictionary", ByName(), "max_batch_size: 8\n" + pair("input", ["b", "a"], [4]) + pair("output", ["OUTPUT__0"], [4]))
made.ask("ts_dictionary", "TorchScript, a dictionary of tensors", {"a": x, "b": y}, {"OUTPUT__0": x * y})

script("ts_wrong_type", Two(), "max_batch_size: 8\n" + pair("input", ["INPUT__0", "INPUT__1"], [4]) + tensor("output", "OUTPUT__0", "INT32", [4]))
made.fail("ts_wrong_type", "an output of another type", {"INPUT__0": x, "INPUT__1": y}, "configuration expects datatype TYPE_INT32 for output 'OUTPUT__0', model provides TYPE_FP32")

script("ts_wrong_index", Two(), "max_batch_size: 8\n" + pair("input", ["INPUT__0", "INPUT__1"], [4]) + pair("output", ["OUTPUT__7"], [4]))
made.fail("ts_wrong_index", "an output that there is not", {"INPUT__0": x, "INPUT__1": y}, "refers to an output index which doesn't exist. This model has 2 outputs")

script("ts_exception", network, "max_batch_size: 8\n" + tensor("input", "INPUT__0", "FP32", [-1]) + tensor("output", "OUTPUT__0", "FP32", [3]))
made.fail("ts_exception", "an exception of PyTorch", {"INPUT__0": x[:, :3]}, "PyTorch execute failure: ")

script("ts_count", Two(), "max_batch_size: 8\n" + pair("input", ["INPUT__0"], [4]) + pair("output", ["OUTPUT__0"], [4]))
made.refuse("ts_count", "too few inputs", "unable to load model 'ts_count', configuration expects 1 inputs, model provides 2")

directory = made.add("ts_damaged", 'platform: "pytorch_libtorch"\n' + pair("input", ["INPUT__0"], [4]) + pair("output", ["OUTPUT__0"], [4]))
with open(os.path.join(directory, "model.pt"), "wb") as file:
    file.write(b"no model")
made.refuse("ts_damaged", "a damaged file", "failed to load model 'ts_damaged': ")

batch = torch.export.Dim("batch", min=1, max=64)
program = torch.export.export(network, (torch.zeros(2, 4),), dynamic_shapes=({0: batch},))
directory = made.add("exported", 'backend: "pytorch"\nmax_batch_size: 8\n' + tensor("input", "INPUT__0", "FP32", [4]) + tensor("output", "OUTPUT__0", "FP32", [3]))
torch.export.save(program, os.path.join(directory, "model.pt2"))
made.ask("exported", "torch.export program, batched", {"INPUT__0": x}, {"OUTPUT__0": scores})

one, two, scale = torch.from_numpy(x), torch.from_numpy(y), torch.tensor([2.0])
program = torch.export.export(Nested(), (one, {"k": two}), {"scale": scale})
directory = made.add(
    "exported_nested",
    'backend: "pytorch"\nmax_batch_size: 0\n'
    + tensor("input", "KWARGS[scale]", "FP32", [1]) + tensor("input", "ARGS[1][k]", "FP32", [3, 4]) + tensor("input", "ARGS[0]", "FP32", [3, 4])
    + tensor("output", "RESULT[pair][1]", "FP32", [3, 4]) + tensor("output", "RESULT[sum]", "FP32", [3, 4]),
)  # fmt: skip
torch.export.save(program, os.path.join(directory, "model.pt2"))
made.ask(
    "exported_nested", "torch.export program, ARGS, KWARGS and RESULT",
    {"ARGS[0]": x, "ARGS[1][k]": y, "KWARGS[scale]": scale.numpy()}, {"RESULT[sum]": (x + y) * 2, "RESULT[pair][1]": y},
)  # fmt: skip


class Named(nn.Module):
    def forward(self, one: torch.Tensor, two: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"sum": one + two, "difference": one - two}


if shutil.which("g++"):
    # The compiler makes a library of it.
    program = torch.export.export(Named(), (torch.zeros(2, 4), torch.zeros(2, 4)), dynamic_shapes=({0: batch}, {0: batch}))
    directory = made.add("compiled", 'platform: "torch_aoti"\nmax_batch_size: 8\n' + pair("input", ["ARGS[1]", "ARGS[0]"], [4]) + pair("output", ["RESULT[sum]", "RESULT[difference]"], [4]))
    torch._inductor.aoti_compile_and_package(program, package_path=os.path.join(directory, "model.pt2"))
    made.ask("compiled", "AOTInductor package", {"ARGS[0]": x, "ARGS[1]": y}, {"RESULT[sum]": x + y, "RESULT[difference]": x - y})

SOURCE = """
import torch

class Doubler(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = torch.nn.Parameter(torch.ones(1))

    def forward(self, one, two):
        return one * self.factor + two
"""
directory = made.add(
    "module",
    'backend: "pytorch"\nruntime: "model.py"\nmax_batch_size: 8\n' + pair("input", ["A", "B"], [4]) + pair("output", ["C"], [4])
    + 'parameters { key: "TORCH_COMPILE_OPTIONAL_PARAMETERS" value { string_value: "{\\"disable\\": true}" } }\n',
)  # fmt: skip
with open(os.path.join(directory, "model.py"), "w") as file:
    file.write(SOURCE)
torch.save({"factor": torch.tensor([2.0])}, os.path.join(directory, "model.pt"))
made.ask("module", "a module in Python with its weights (runtime model.py)", {"A": x, "B": y}, {"C": 2 * x + y})

made.save()
