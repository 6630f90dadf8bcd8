"""The forms in which a PyTorch model lies on the disk. Each is loaded into a callable from arrays to arrays."""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Callable

import torch

from .batching import Arrays
from .naming import parse_index, place_inputs, place_outputs
from .runner_config import LoadError, RunnerConfig
from .torch_tensors import pick_outputs, to_torch

Run = Callable[[Arrays], Arrays]


def open_model(config: RunnerConfig, device: torch.device | None) -> Run:
    path = _find_file(config)
    opened = {".py": _open_module, ".pt2": _open_package}.get(os.path.splitext(path)[1], _open_script)
    try:
        return opened(path, config, device)
    except LoadError:
        raise
    except Exception as error:
        raise LoadError(f"failed to load model '{config.model}': {error}") from error


def _find_file(config: RunnerConfig) -> str:
    if config.runtime != "model.py":
        return config.path("model.pt", "model.pt2", "model.py")
    # `model.pt` is what a configuration is completed with; beside a module it holds the weights.
    own = [config.filename] if config.filename not in ("", "model.pt") else []
    for name in (*own, "model.py", "model.pt"):
        path = os.path.join(config.directory, name)
        if os.path.isfile(path):
            return path
    raise LoadError(f"No model found in {config.model}/['model.py', 'model.pt']")


def _check_count(config: RunnerConfig, least: int, most: int) -> None:
    count = len(config.inputs)
    if not least <= count <= most:
        text = f"unable to load model '{config.model}', configuration expects {count} inputs, model provides {most}"
        raise LoadError(text)


def _open_script(path: str, config: RunnerConfig, device: torch.device | None) -> Run:
    """TorchScript: names of `forward`'s arguments, `INPUT__0`, or the order of the configuration."""
    module = torch.jit.load(path, map_location=device)
    module.eval()
    arguments = list(module.forward.schema.arguments)[1:]
    names = [spec.name for spec in config.inputs]
    outputs = place_outputs(config.model, [spec.name for spec in config.outputs])
    dictionaries = [argument for argument in arguments if argument.type.kind() == "DictType"]
    if dictionaries:
        if len(arguments) > 1:
            raise LoadError(
                "Multiple inputs of kind DictType were detected. Only a single input of type Dict(str, Tensor) is supported."
            )
        return lambda arrays: pick_outputs(
            module({name: to_torch(arrays[name], device) for name in names}), config, outputs
        )
    required = [argument for argument in arguments if not argument.has_default_value()]
    _check_count(config, len(required), len(arguments))
    places = place_inputs(config.model, names, [argument.name for argument in arguments])
    _check_places(config, places, len(names))

    def run(arrays: Arrays) -> Arrays:
        values: list = [None] * len(names)
        for name, place in places.items():
            values[place] = to_torch(arrays[name], device)
        return pick_outputs(module(*values), config, outputs)

    return run


def _check_places(config: RunnerConfig, places: dict[str, int], count: int) -> None:
    if sorted(places.values()) != list(range(count)):
        shown = ", ".join(f"'{name}'" for name in places)
        raise LoadError(f"the inputs {shown} of model '{config.model}' do not name each of its {count} arguments once")


def _open_package(path: str, config: RunnerConfig, device: torch.device | None) -> Run:
    """A `torch.export` program or an AOTInductor package; leaves are named INPUT__0, ARGS[0][key], KWARGS[key], RESULT[0]."""
    with zipfile.ZipFile(path) as archive:
        is_compiled = any("aotinductor" in name for name in archive.namelist())
    if is_compiled:
        compiled = torch._inductor.aoti_load_package(path)
        specs = [torch.utils._pytree.treespec_loads(text) for text in compiled.loader.get_call_spec()]
        return _call_by_leaf(compiled, specs[0], specs[1], (config, device))
    program = torch.export.load(path)
    module = program.module()
    if device is not None and device.type != "cpu":
        module = module.to(device)
    return _call_by_leaf(module, program.call_spec.in_spec, program.call_spec.out_spec, (config, device))


def _call_by_leaf(call, in_spec, out_spec, about: tuple[RunnerConfig, torch.device | None]) -> Run:
    config, device = about
    tree = torch.utils._pytree
    count = in_spec.num_leaves
    if len(config.inputs) != count:
        raise LoadError(
            f'Model instance "{config.model}" has mismatching input count between model config and model definition: '
            f"model config input count = {len(config.inputs)}, model definition input count = {count}"
        )
    arguments, keywords = tree.tree_unflatten(list(range(count)), in_spec)
    roots = {"ARGS": arguments, "KWARGS": keywords}
    places = _find_leaves([spec.name for spec in config.inputs], roots)
    if any(place is None for place in places.values()):
        places = place_inputs(config.model, list(places), list(keywords))
    _check_places(config, places, count)
    result = tree.tree_unflatten(list(range(out_spec.num_leaves)), out_spec)
    outputs = _find_leaves([spec.name for spec in config.outputs], {"RESULT": result})
    if any(place is None for place in outputs.values()):
        outputs = place_outputs(config.model, list(outputs))

    def run(arrays: Arrays) -> Arrays:
        leaves: list = [None] * count
        for name, place in places.items():
            leaves[place] = to_torch(arrays[name], device)
        own, named = tree.tree_unflatten(leaves, in_spec)
        return pick_outputs(tuple(tree.tree_leaves(call(*own, **named))), config, outputs)

    return run


_PATH = re.compile(r"^(ARGS|KWARGS|RESULT)((?:\[[^\[\]]+\])*)$")


def _find_leaves(names: list[str], roots: dict[str, object]) -> dict[str, int | None]:
    """The number of the leaf that each name means; None for a name that is no path."""
    return {name: _find_leaf(name, roots) for name in names}


def _find_leaf(name: str, roots: dict[str, object]) -> int | None:
    match = _PATH.match(name)
    if match is None or match.group(1) not in roots:
        return parse_index(name)
    value = roots[match.group(1)]
    for key in re.findall(r"\[([^\[\]]+)\]", match.group(2)):
        key = key.strip("'\"")
        try:
            value = value[int(key)] if isinstance(value, (list, tuple)) else value[key]
        except (LookupError, ValueError, TypeError):
            raise LoadError(f"'{name}' names nothing in the model") from None
    if not isinstance(value, int):
        raise LoadError(f"'{name}' names no single tensor of the model")
    return value


def _open_module(path: str, config: RunnerConfig, device: torch.device | None) -> Run:
    """The first module class of a Python file, weights beside it, compiled; inputs and outputs in the configuration's order."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("conch_model", path)
    source = module_from_spec(spec)
    spec.loader.exec_module(source)
    classes = [one for one in vars(source).values() if isinstance(one, type) and issubclass(one, torch.nn.Module)]
    own = [one for one in classes if one.__module__ == source.__name__]
    if not own:
        raise LoadError("Cannot find a subclass of torch.nn.Module")
    module = own[0]()
    weights = f"{os.path.splitext(path)[0]}.pt"
    if os.path.exists(weights):
        module.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
    module.eval()
    if device is not None:
        module.to(device)
    options = _read_compile_options(config)
    call = module if options.get("disable") is True else torch.compile(module, **options)
    places = {output.name: place for place, output in enumerate(config.outputs)}

    def run(arrays: Arrays) -> Arrays:
        values = [to_torch(arrays[one.name], device) for one in config.inputs]
        result = call(*values)
        return pick_outputs(tuple(result) if isinstance(result, list) else result, config, places)

    return run


def _read_compile_options(config: RunnerConfig) -> dict:
    text = config.parameters.get("TORCH_COMPILE_OPTIONAL_PARAMETERS", "")
    if not text:
        return {}
    options = json.loads(text)
    for name in options:
        if name not in ("fullgraph", "dynamic", "backend", "mode", "options", "disable"):
            raise LoadError(f"'{name}' is not an optional parameter for 'torch.compile'")
    return options
