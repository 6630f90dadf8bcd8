"""Finds and imports a model's Python file."""

from __future__ import annotations

import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder, SourceFileLoader
from types import ModuleType


class FreshLoader(SourceFileLoader):
    """Compiles what the file says now: a cached form is told apart by whole seconds only, and would litter the repository."""

    def get_code(self, fullname: str):
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def import_model(file: str, version_directory: str, python_path: list[str]) -> ModuleType:
    """
    Imports the file as module `<version>.<stem>`, so that `from .x import y` finds its siblings; `import x` does too,
    after everything that is installed. Raises whatever the file raises.
    """
    if not file.endswith(".py"):
        raise ImportError(f"Model name must end with '.py'. Model name is \"{os.path.basename(file)}\".")
    if not os.path.isfile(file):
        raise FileNotFoundError(f"Python model file not found in '{file}'")
    model_directory = os.path.dirname(version_directory)
    own = os.path.dirname(file)
    _read_afresh({model_directory, own})
    for directory in (own, version_directory, os.path.dirname(own), model_directory, *python_path):
        if directory not in sys.path:
            sys.path.append(directory)
    # Never the name of a Python-based backend's directory: that may be the name of an installed package.
    package = ModuleType(os.path.basename(version_directory))
    package.__path__ = [own, version_directory]
    return _import_file(package, os.path.basename(file)[:-3], file)


def _import_file(package: ModuleType, stem: str, file: str) -> ModuleType:
    from importlib.util import module_from_spec, spec_from_file_location

    sys.modules[package.__name__] = package
    name = f"{package.__name__}.{stem}"
    spec = spec_from_file_location(name, file, loader=FreshLoader(name, file))
    module = module_from_spec(spec)
    sys.modules[name] = module
    setattr(package, stem, module)
    spec.loader.exec_module(module)
    return module


def _read_afresh(directories: set[str]) -> None:
    """Every file below a model's directories is compiled when it is imported."""
    roots = tuple(os.path.join(directory, "") for directory in directories)
    make = FileFinder.path_hook((ExtensionFileLoader, EXTENSION_SUFFIXES), (FreshLoader, [".py"]))

    def hook(path: str):
        if not os.path.join(path, "").startswith(roots):
            raise ImportError
        return make(path)

    sys.path_hooks.insert(0, hook)
    sys.path_importer_cache.clear()
