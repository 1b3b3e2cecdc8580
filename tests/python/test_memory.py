"""Device memory that a training step takes, beside what PyTorch's live tensors take in the same step."""

import json

from processes import ROOT, run

# In a process of its own: shared segments grow with what is reserved, so what other tests still hold would
# change what this step reserves.
MEASURE = """
import json, sys
from torch.profiler import ProfilerActivity, profile
sys.path.insert(0, sys.argv[1])
import bench, ocl

def torch_peak(trainer):
    '''Bytes of PyTorch's live tensors at the peak of a step: what stays, and what the step adds to it.'''
    moments = [tensor for state in trainer.optimizer.state.values() for tensor in state.values()]
    staying = [*trainer.net.parameters(), *trainer.net.buffers(), *moments, trainer.inputs, trainer.target]
    trainer.optimizer.zero_grad()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        trainer.step()
    events = [e for e in profiler.profiler.kineto_results.events() if e.name() == "[memory]"]
    added = peak = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        added += event.nbytes()
        peak = max(peak, added)
    return peak + sum(tensor.nbytes for tensor in staying)

model = bench.MODELS["mnist"]
theirs, ours = bench.make_torch_trainer(model), bench.Trainer(ocl, ocl.synchronize, model)
for trainer in (theirs, ours):
    for _ in range(2):
        trainer.step()
need = torch_peak(theirs)
ocl.reset_peak_memory_stats()
ours.step()
print(json.dumps([ocl.max_memory_allocated() / need, ocl.max_memory_reserved() / need]))
"""


def test_peak_of_a_training_step():
    output, _ = run(MEASURE, ROOT / "tools")
    in_use, reserved = json.loads(output.splitlines()[-1])
    print(f"of PyTorch's live tensors at the peak: {in_use:.3f} in use, {reserved:.3f} reserved")
    assert in_use <= 1.1
    assert reserved <= 1.3
