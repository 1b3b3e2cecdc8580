"""The process that runs cases, so that a crash or a hang ends it and not the fuzzer.

It reads one case a line, `KIND:NAME:SEED:LIMIT`, and answers with lines of JSON: what is about to be called,
then what was found.
"""

import contextlib
import dataclasses
import faulthandler
import json
import os
import resource
import signal
import sys


def limit_memory(gibibytes):
    """The most that this process may take from now on; 0 for no limit."""
    if gibibytes:
        resource.setrlimit(resource.RLIMIT_AS, (gibibytes << 30, gibibytes << 30))


def serve(device, memory, timeout):
    """`memory`: the most that the process may take, in GiB; PyTorch then refuses what would fill it.

    Shortly before `timeout` ends a case, the process says on stderr where its threads are.
    """
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print must not mix with the answers
    import torch

    import ocl
    from fuzz.found import REFUSES, Found
    from fuzz.operators import attempt
    from fuzz.runner import CaseId

    torch.set_num_threads(1)
    ocl.set_default_device(device)
    name = ocl.get_device_name()
    limit_memory(memory)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print(json.dumps({"device": name}), file=answers)

    def announce(library, text):
        print(json.dumps({"library": library.__name__, "call": text[:2000]}), file=answers)

    for line in sys.stdin:
        with contextlib.suppress(RuntimeError):  # no memory left for its thread
            faulthandler.dump_traceback_later(0.9 * timeout)
        case = CaseId.parse(line.rstrip("\n"))
        found = case.module().run_one(case.name, case.seed, case.limit, announce)
        late = attempt(ocl.synchronize)
        if late is not None and found is None:
            found = Found(REFUSES, case.subject(), str(case), f"after the end of the case: {late}")
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps({"found": found and dataclasses.asdict(found)}), file=answers)
