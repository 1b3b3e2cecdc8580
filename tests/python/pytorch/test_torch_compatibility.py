"""The back end refuses what does not belong together: one line that names both sides, and no crash."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

ROOT = Path(__file__).parents[3]
CHECK_COMPILER = ROOT / "python" / "torch_ocl" / "check_compiler.py"
needs_compiler = pytest.mark.skipif(not shutil.which("g++"), reason="NOT TESTED: there is no g++")


def last_line_of(program, **environment):
    """The last line on standard error of a program that must end with a Python exception."""
    variables = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", **environment}
    done = subprocess.run(
        [sys.executable, "-c", program], env=variables, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1, f"exit code {done.returncode}: {done.stderr}"
    return done.stderr.strip().splitlines()[-1]


def test_another_release_of_pytorch_is_refused():
    line = last_line_of("import torch; torch.__version__ = '2.99.0+cpu'; import torch_ocl")
    built_for = torch.__version__
    assert line.startswith("ImportError: torch_ocl ")
    assert f"built for PyTorch {built_for}, and this is PyTorch 2.99.0+cpu" in line


def test_a_patch_release_of_pytorch_is_taken():
    major, minor = torch.__version__.split(".")[:2]
    program = f"import torch; torch.__version__ = '{major}.{minor}.77'; import torch_ocl"
    variables = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    subprocess.run([sys.executable, "-c", program], env=variables, check=True, timeout=120)


@pytest.mark.parametrize(
    "program",
    [
        "import ocl; ocl.__version__ = '9.9.9'; import torch_ocl",
        "import torch_ocl; from torch_ocl import _built_with; _built_with.VERSION = '9.9.9'; import ocl",
    ],
    ids=["ocl first", "torch_ocl first"],
)
def test_another_version_of_ocl_is_refused(program):
    import ocl

    line = last_line_of(program)
    assert line.startswith("ImportError: torch_ocl is of TapeCL ")
    assert "9.9.9" in line and ocl.__version__ in line


@needs_compiler
def test_a_module_that_does_not_load_is_one_line(tmp_path):
    import torch_ocl

    package = tmp_path / "torch_ocl"
    shutil.copytree(Path(torch_ocl.__file__).parent, package)
    [module] = package.glob("_C*.so")
    module.unlink()
    code = "extern int no_such_symbol(); int probe() { return no_such_symbol(); }"
    command = ["g++", "-shared", "-fPIC", "-Wl,-z,now", "-x", "c++", "-", "-o", module]
    subprocess.run(command, input=code, text=True, check=True)
    line = last_line_of("import torch_ocl", PYTHONPATH=str(tmp_path))
    assert line.startswith("ImportError: torch_ocl ")
    assert f"does not load with PyTorch {torch.__version__}" in line and "no_such_symbol" in line


def test_backward_on_cuda_says_that_ocl_is_the_accelerator(monkeypatch):
    from torch_ocl import _compatibility

    def run(*args, **kwargs):
        raise RuntimeError("opt_ready_stream && opt_parent_stream INTERNAL ASSERT FAILED")

    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.autograd, "_engine_run_backward", run)
    _compatibility.explain_cuda()
    with pytest.raises(RuntimeError, match=r"^backward\(\) of tensors on cuda: .*AUTOLOAD=0$"):
        torch.ones(1, requires_grad=True).sum().backward()


def test_other_errors_of_backward_stay(monkeypatch):
    from torch_ocl import _compatibility

    def run(*args, **kwargs):
        raise RuntimeError("something else")

    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.autograd, "_engine_run_backward", run)
    _compatibility.explain_cuda()
    with pytest.raises(RuntimeError, match="^something else$"):
        torch.ones(1, requires_grad=True).sum().backward()


def check(compiler, *flags):
    done = subprocess.run(
        [sys.executable, CHECK_COMPILER, compiler, *flags], capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stderr.strip()


@needs_compiler
def test_a_compiler_with_the_shared_runtime_is_taken():
    assert check("g++") == (0, "")


@needs_compiler
def test_a_compiler_with_a_runtime_of_its_own_is_refused(tmp_path):
    compiler = tmp_path / "own-runtime-g++"
    compiler.write_text('#!/bin/sh\nexec g++ -static-libstdc++ -static-libgcc "$@"\n')
    compiler.chmod(0o755)
    status, line = check(compiler)
    assert status == 1
    assert (
        line == f"{compiler} links a C++ runtime of its own, not the shared libstdc++.so.6 that PyTorch loads"
    )


@needs_compiler
def test_a_compiler_that_does_not_know_its_flags_is_refused():
    status, line = check("g++", "-fno-such-flag")
    assert status == 1 and line.startswith("g++ compiles no C++20: ") and len(line.splitlines()) == 1


def test_a_compiler_that_is_not_there_is_refused():
    assert check("/no/such/compiler") == (1, "there is no compiler /no/such/compiler")
