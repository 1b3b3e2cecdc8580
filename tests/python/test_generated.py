"""Files that are generated from the built library are up to date in the tree."""

import ast
import re
import subprocess
import sys
import types
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path

import torch
from fuzz.known import documentation
from validation.torchvision_files import find_torchvision, load_torchvision

from ocl import _C

ROOT = Path(__file__).resolve().parents[2]


def assert_is_up_to_date(tool):
    done = subprocess.run([sys.executable, ROOT / tool, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, f"run .venv/bin/python {tool}\n{done.stderr}"


def test_operator_page_is_what_the_tables_say():
    assert_is_up_to_date("tools/generate_docs.py")


def test_methods_in_cpp_are_what_the_rows_say():
    assert_is_up_to_date("tools/generate_methods.py")


def test_page_of_the_fuzzer_lists_what_it_lets_pass():
    page = (ROOT / "docs/fuzzing.md").read_text()
    assert documentation() in page, "put the result of fuzz.known.documentation() into docs/fuzzing.md"


def names_something(package, path):
    try:
        attrgetter(path)(package)
    except AttributeError:
        return False
    return True


def test_every_source_is_a_name_of_pytorch_or_its_libraries():
    packages = {
        "torch": torch,
        "torchvision": load_torchvision() if find_torchvision() else None,
        "torchao": import_module("torchao") if find_spec("torchao") else None,
    }
    for row in _C.operator_table():
        package, name = re.match(r"(torch|torchvision|torchao)\.([\w.]+)", row["source"]).groups()
        if packages[package] is not None:
            assert names_something(packages[package], name), (
                f"row {row['name']}: {row['source']} is no name of {package}; "
                "see torch_name() in autograd/ops/operators.cpp and the row's source (CONTRIBUTING.md)"
            )


def declared(body):
    """The names by their paths that the statements of a stub declare: `Tensor`, `Tensor.add`."""
    names = set()
    for node in body:
        if isinstance(node, ast.ClassDef):
            names |= {node.name} | {f"{node.name}.{name}" for name in declared(node.body)}
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def public(thing):
    return {name for name in vars(thing) if not name.startswith("_")}


def bound(module):
    """The names by their paths that a compiled module binds, those of methods and properties too."""
    names = public(module)
    for name, value in vars(module).items():
        if isinstance(value, type) and value.__module__ == module.__name__:
            names |= {f"{name}.{attribute}" for attribute in public(value)}
    return names


def compiled_modules():
    names = ["ocl._C"]
    for name in names:
        module = import_module(name)
        names += [child.__name__ for child in vars(module).values() if isinstance(child, types.ModuleType)]
    return names


def test_stubs_name_every_function_and_method():
    missing = []
    for name in compiled_modules():
        path = ROOT / "python" / name.replace(".", "/")
        stub = path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi")
        names = bound(import_module(name)) - declared(ast.parse(stub.read_text()).body)
        missing += [f"{name}.{one}" for one in sorted(names)]
    assert not missing, f"run tools/generate_stubs: {missing}"
