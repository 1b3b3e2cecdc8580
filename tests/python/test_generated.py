"""Files that are generated from the built library are up to date in the tree."""

import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path

import torch
from fuzz.known import documentation
from validation.torchvision_files import find_torchvision, load_torchvision

from ocl import _C

ROOT = Path(__file__).resolve().parents[2]


def test_operator_page_is_what_the_tables_say():
    command = [sys.executable, ROOT / "tools/generate_docs.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_methods_in_cpp_are_what_the_rows_say():
    command = [sys.executable, ROOT / "tools/generate_methods.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_page_of_the_fuzzer_lists_what_it_lets_pass():
    page = (ROOT / "docs/fuzzing.md").read_text()
    assert documentation() in page, "put the result of fuzz.known.documentation() into docs/fuzzing.md"


def test_every_source_is_a_name_of_pytorch_or_its_libraries():
    packages = {
        "torch": torch,
        "torchvision": load_torchvision() if find_torchvision() else None,
        "torchao": import_module("torchao") if find_spec("torchao") else None,
    }
    for row in _C.operator_table():
        package, name = re.match(r"(torch|torchvision|torchao)\.([\w.]+)", row["source"]).groups()
        if packages[package] is not None:
            attrgetter(name)(packages[package])


def test_stubs_name_every_function():
    stubs = (ROOT / "python/ocl/_C/__init__.pyi").read_text()
    names = {name for name in dir(_C) if not name.startswith("_")}
    declared = set(re.findall(r"^(?:def |class )?(\w+)(?=\(|:| =)", stubs, re.MULTILINE))
    assert not names - declared, "run tools/generate_stubs"
