"""Command line of the fuzzer."""

import argparse
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# In place of this folder, in which modules are named as Python's own are.
sys.path[:1] = [str(FOLDER.parent), str(FOLDER.parent / "ops"), str(FOLDER.parent / "nn")]


def parse_arguments():
    from fuzz.runner import KINDS

    parser = argparse.ArgumentParser(prog="fuzz", description="Random cases against PyTorch on the CPU.")
    parser.add_argument("--device", default="ocl:0", help="device to test (default: %(default)s)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, help="run so long")
    length.add_argument("--cases", type=int, default=2000, help="run so many cases (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first case (default: %(default)s)")
    parser.add_argument("--kinds", default=",".join(KINDS), help="what to draw (default: %(default)s)")
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side (default: %(default)s)"
    )
    parser.add_argument(
        "--memory", type=int, default=8, help="GiB a process; 0: no limit, for GPUs (default: %(default)s)"
    )
    parser.add_argument(
        "--timeout", type=float, default=120, help="seconds for one case (default: %(default)s)"
    )
    parser.add_argument("--replay", metavar="CASE", help="run one case, as printed, in this process")
    return parser.parse_args()


def replay(text, device, memory):
    import ocl
    from fuzz.runner import CaseId
    from fuzz.worker import limit_memory

    ocl.set_default_device(device)
    limit_memory(memory)
    case = CaseId.parse(text)
    found = case.module().run_one(case.name, case.seed, case.limit, lambda library, text: None)
    print(f"{found.what}: {found.subject}\n{found.call}\n{found.detail}" if found else "no disagreement")
    return found is not None


def main():
    if sys.argv[1:2] == ["--worker"]:
        from fuzz.worker import serve

        serve(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
        return 0
    arguments = parse_arguments()
    if arguments.replay:
        return int(replay(arguments.replay, arguments.device, arguments.memory))
    from fuzz.runner import run

    report = run(
        arguments.seed,
        arguments.kinds.split(","),
        arguments.device,
        arguments.memory,
        arguments.workers,
        arguments.timeout,
        None if arguments.minutes else arguments.cases,
        arguments.minutes,
    )
    return int(bool(report.unknown))


if __name__ == "__main__":
    sys.exit(main())
