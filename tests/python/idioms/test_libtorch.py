"""Programs for libtorch give its numbers with `ocl` in the place of `torch`.

The C++ program is tests/cpp/programs/libtorch, as ./test.sh or ``cmake --build --preset …`` built it.
"""

import math
import re
import struct
import subprocess
from pathlib import Path

import pytest
import torch
from comparisons import not_compared
from processes import find_program

SOURCES = Path(__file__).parents[2] / "cpp" / "programs" / "libtorch"
PROGRAM = find_program("libtorch_idioms")
pytestmark = pytest.mark.skipif(
    PROGRAM is None,
    reason=not_compared("C++ idioms", "build of the C++ program libtorch_idioms"),
)
FEWEST = 55


@pytest.fixture
def folder(tmp_path):
    """A folder with MNIST's test set, of made pictures."""
    pixels = bytes((7 * i) % 256 for i in range(10_000 * 28 * 28))
    images = struct.pack(">4i", 0x803, 10_000, 28, 28) + pixels
    labels = struct.pack(">2i", 0x801, 10_000) + bytes(i % 10 for i in range(10_000))
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(images)
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(labels)
    return tmp_path


def lines_of(program, folder):
    """The lines that each idiom printed."""
    text = subprocess.run([program, folder], capture_output=True, text=True, check=True, timeout=300).stdout
    _, *parts = re.split(r"^## ", text, flags=re.M)
    return {lines[0]: lines[1:] for lines in map(str.splitlines, parts)}


def test_idioms_run(folder):
    printed = lines_of(PROGRAM, folder)
    assert len(printed) >= FEWEST
    assert {name: lines for name, lines in printed.items() if "EXCEPTION" in "".join(lines)} == {}
    assert all(printed.values())


def are_alike(ours, theirs):
    words, others = ours.split(), theirs.split()
    return len(words) == len(others) and all(
        a == b or math.isclose(float(a), float(b), rel_tol=2e-5, abs_tol=2e-6)
        for a, b in zip(words, others, strict=True)
    )


@pytest.mark.slow
def test_idioms_give_libtorchs_numbers(folder, tmp_path):
    root = Path(torch.__file__).parent
    include = [f"-I{root / path}" for path in ("include", "include/torch/csrc/api/include")]
    libraries = [f"-L{root / 'lib'}", f"-Wl,-rpath,{root / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
    theirs = tmp_path / "theirs"
    command = ["g++", "-std=c++17", "-O0", "-w", "-DWITH_LIBTORCH", *include, *sorted(SOURCES.glob("*.cpp"))]
    subprocess.run([*command, "-o", theirs, *libraries], check=True)
    printed, expected = lines_of(PROGRAM, folder), lines_of(theirs, folder)
    assert printed.keys() == expected.keys()
    different = {
        name: (printed[name], lines)
        for name, lines in expected.items()
        if len(lines) != len(printed[name]) or not all(map(are_alike, printed[name], lines))
    }
    assert different == {}
