"""The backend `pytorch`: TorchScript, `torch.export` programs, AOTInductor packages and modules in Python."""

from __future__ import annotations

import torch
import triton_python_backend_utils as pb_utils

from .batching import Arrays, RunError, answer
from .runner_config import RunnerConfig, read_config
from .torch_models import open_model
from .torch_tensors import check_specs, choose_device


class TritonPythonModel:
    def initialize(self, args: dict[str, str]) -> None:
        self._config = config = read_config(args)
        check_specs(config)
        _set_options(config)
        self._device = choose_device(config)
        self._optimized = not config.flag("DISABLE_OPTIMIZED_EXECUTION")
        self._guard = torch.inference_mode if config.flag("INFERENCE_MODE", True) else torch.no_grad
        self._cleans = config.flag("ENABLE_CACHE_CLEANING")
        self._run = open_model(config, self._device)

    def execute(self, requests: list) -> list:
        return answer(requests, self._config, self._call)

    def _call(self, arrays: Arrays) -> Arrays:
        try:
            with self._guard(), torch.jit.optimized_execution(self._optimized):
                return self._run(arrays)
        except RunError:
            raise
        except Exception as error:
            raise RunError(f"PyTorch execute failure: {error}") from error
        finally:
            if self._cleans and self._device is not None and self._device.type == "cuda":
                torch.cuda.empty_cache()


def _set_options(config: RunnerConfig) -> None:
    """Options of the process: each instance has one of its own."""
    is_module = config.runtime == "model.py"
    intra = config.count("NUM_THREADS" if is_module else "INTRA_OP_THREAD_COUNT")
    inter = config.count("NUM_INTEROP_THREADS" if is_module else "INTER_OP_THREAD_COUNT")
    if intra:
        torch.set_num_threads(intra)
    if inter:
        torch.set_num_interop_threads(inter)
    if config.flag("DISABLE_CUDNN"):
        torch.backends.cudnn.enabled = False
    for name, change in (
        ("ENABLE_JIT_EXECUTOR", torch._C._jit_set_profiling_executor),
        ("ENABLE_JIT_PROFILING", torch._C._jit_set_profiling_mode),
        ("ENABLE_TENSOR_FUSER", torch._C._jit_set_texpr_fuser_enabled),
    ):
        if name in config.parameters:
            change(config.flag(name))
    if config.flag("ENABLE_WEIGHT_SHARING"):
        pb_utils.Logger.log_warn(
            f"ENABLE_WEIGHT_SHARING of model '{config.model}' changes nothing: each instance is a process with its own weights"
        )
