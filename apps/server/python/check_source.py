"""Says what is wrong with the source of a Python model, without running any of it.

Standard input: one JSON object {source, inputs, outputs, siblings, packages}; standard output: {python, problems}.
Offsets are UTF-16 positions in the source, as an editor in a browser counts; lines and columns start at 1.
"""

import ast
import importlib.util
import json
import resource
import sys
import warnings

MEMORY_BYTES = 2 << 30
CPU_SECONDS = 5
OLDEST = (3, 9)
MODEL = "TritonPythonModel"
# What every model has, whatever is installed for this interpreter.
OURS = {"triton_python_backend_utils", "c_python_backend_utils", "numpy"}


class Source:
    """Turns the places of Python into those of an editor."""

    def __init__(self, text):
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + width(line) + 1)

    def problem(self, severity, message, place):
        """place: first line, column in characters from 0, last line, column behind the end."""
        line, column, last, end = place
        line = min(max(line, 1), len(self.lines))
        last = min(max(last, line), len(self.lines))
        start = self.starts[line - 1] + width(self.lines[line - 1][: max(column, 0)])
        stop = self.starts[last - 1] + width(self.lines[last - 1][: max(end, 0)])
        return {
            "severity": severity,
            "message": message,
            "line": line,
            "column": max(column, 0) + 1,
            "from": start,
            "to": max(stop, start),
        }

    def at_node(self, severity, message, node):
        """ast counts columns in bytes of UTF-8."""
        end = node.end_lineno or node.lineno
        first, last = self.lines[node.lineno - 1], self.lines[end - 1]
        column = len(first.encode()[: node.col_offset].decode("utf-8", "ignore"))
        stop = len(last.encode()[: node.end_col_offset or 0].decode("utf-8", "ignore"))
        return self.problem(severity, message, (node.lineno, column, end, stop))


def width(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def parse(text, source, problems):
    """The tree, or None when it is no Python. compile() finds what the grammar alone lets pass; nothing is run."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SyntaxWarning)
        warnings.simplefilter("always", DeprecationWarning)
        try:
            tree = ast.parse(text, "model.py")
            compile(tree, "model.py", "exec", dont_inherit=True)
        except SyntaxError as error:
            line, column = error.lineno or 1, (error.offset or 1) - 1
            last, end = getattr(error, "end_lineno", None) or line, (getattr(error, "end_offset", None) or 0) - 1
            place = (line, column, last, max(end, column + 1) if last == line else end)
            problems.append(source.problem("error", f"{type(error).__name__}: {error.msg}", place))
            return None
        except (ValueError, RecursionError, MemoryError) as error:
            problems.append(source.problem("error", f"{type(error).__name__}: {error}", (1, 0, 1, 0)))
            return None
    for warning in caught:
        line = min(warning.lineno, len(source.lines))
        place = (line, 0, line, len(source.lines[line - 1]))
        problems.append(source.problem("warning", str(warning.message), place))
    return tree


def check_class(tree, source):
    named = [node for node in ast.walk(tree) if MODEL in bound_names(node)]
    if not named:
        yield source.problem("error", f"there is no class {MODEL}: the server makes one for each instance", (1, 0, 1, 0))
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or node.name != MODEL or node.bases:
            continue
        methods = {part.name: part for part in node.body if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef))}
        assigned = {name for part in node.body for name in bound_names(part)}
        head = ast.copy_location(ast.Name(MODEL), node)
        head.end_lineno, head.end_col_offset = node.lineno, node.col_offset + len(f"class {MODEL}")
        if "execute" not in methods and "execute" not in assigned:
            yield source.at_node("error", f"{MODEL} has no execute(self, requests): every request would fail", head)
        yield from check_arguments(methods, source)


WANTED = {"initialize": 2, "execute": 2, "finalize": 1}


def check_arguments(methods, source):
    for name, count in WANTED.items():
        method = methods.get(name)
        if method is None or method.decorator_list or method.args.vararg:
            continue
        have = len(method.args.posonlyargs) + len(method.args.args)
        if not have - len(method.args.defaults) <= count <= have:
            what = "self" if count == 1 else "self and one more"
            place = (method.lineno, method.col_offset, method.lineno, len(source.lines[method.lineno - 1]))
            yield source.problem("error", f"{name} is called with {what}, but takes {have} arguments", place)


def bound_names(node):
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [MODEL if alias.name == "*" else alias.asname or alias.name for alias in node.names]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [target.id for target in targets if isinstance(target, ast.Name)]
    return []


def check_imports(tree, source, siblings):
    """Only names at the top: looking for them imports nothing. What is guarded by try is the model's own care."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            names = [node.module]
        else:
            continue
        for name in {name.split(".")[0] for name in names} - OURS - siblings:
            if not is_installed(name):
                text = f"{name} is not installed for the server's Python {version()}; name it in requirements.txt"
                yield source.at_node("warning", text, node)


def is_installed(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def check_tensors(tree, source, inputs, outputs):
    """Names that the config does not have. A model that asks others builds their tensors too, and is left alone."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    nested = any(called(node) == "InferenceRequest" for node in calls)
    for node in calls:
        if called(node) == "get_input_tensor_by_name" and inputs and len(node.args) == 2:
            yield from check_name(node.args[1], source, inputs, "no input {}: None comes back. There are: {}")
        if called(node) == "Tensor" and outputs and not nested and node.args:
            yield from check_name(node.args[0], source, outputs, "no output {}: it is dropped. There are: {}")


def called(node):
    return getattr(node.func, "attr", getattr(node.func, "id", None))


def check_name(node, source, names, text):
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in names:
        yield source.at_node("warning", "the model has " + text.format(node.value, ", ".join(names)), node)


def version():
    return "%d.%d.%d" % sys.version_info[:3]


def check(asked):
    source = Source(asked["source"])
    problems = []
    if sys.version_info < OLDEST:
        text = f"the server's Python is {version()}; models need 3.9 or newer"
        problems.append(source.problem("error", text, (1, 0, 1, 0)))
    tree = parse(asked["source"], source, problems)
    if tree is not None:
        problems += check_class(tree, source)
        problems += check_tensors(tree, source, asked["inputs"], asked["outputs"])
        if not asked["packages"]:
            problems += check_imports(tree, source, set(asked["siblings"]))
    return {"python": version(), "problems": problems}


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    json.dump(check(json.load(sys.stdin)), sys.stdout)
