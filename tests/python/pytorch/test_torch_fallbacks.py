"""python -m torch_ocl.fallbacks: what a model or a program runs on the device, and what on the CPU."""

import re
import subprocess
import sys

PROGRAM = """
import sys, torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)

    def forward(self, x):
        y = torch.nn.functional.gelu(self.layer(x))
        return y + torch.special.bessel_j0(y.detach()) if FALLS_BACK else y

FALLS_BACK = "--cpu" in sys.argv
if __name__ == "__main__":
    Net().to("ocl")(torch.ones(2, 4, device="ocl")).sum().backward()
    print("done")
"""


def run(*arguments, folder):
    command = [sys.executable, "-m", "torch_ocl.fallbacks", *arguments]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, cwd=folder)


def test_a_program(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = run(program, folder=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("done\n"), done.stderr
    for name in ("addmm", "gelu", "gelu_backward", "mm", "sum"):  # of the backward pass too
        assert re.search(rf"^ +1  aten::{name}$", done.stdout, re.MULTILINE), done.stdout
    assert "bessel" not in done.stdout and done.stdout.endswith(", 0 on the CPU\n")

    done = run(program, "--cpu", folder=tmp_path)
    before, after = done.stdout.split("On the device")
    assert done.returncode == 1 and re.search(r"^ +1  aten::special_bessel_j0\.out$", before, re.MULTILINE)
    assert "bessel_j0.out" not in after and done.stdout.endswith(", 1 on the CPU\n")


def test_a_model(tmp_path):
    (tmp_path / "nets.py").write_text(PROGRAM)
    done = run("--model", "nets:Net", "--input", "5,4", folder=tmp_path)
    assert done.returncode == 0 and "aten::gelu_backward" in done.stdout, done.stderr + done.stdout
    done = run(folder=tmp_path)
    assert done.returncode == 2 and "either --model or a program" in done.stderr
