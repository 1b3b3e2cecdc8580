"""Device memory: of a training step, beside what PyTorch's live tensors take in it; of attention."""

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
theirs = bench.make_torch_trainer(model)
ours = bench.Trainer(ocl, ocl.synchronize, model, ocl.get_default_device())
for trainer in (theirs, ours):
    for _ in range(2):
        trainer.step()
need = torch_peak(theirs)
ocl.reset_peak_memory_stats()
ours.step()
# Kernels for GPUs split deep sums among their units, and keep the parts.
parts = 0 if ocl.get_device_properties()["kernel_shape"] == "cpu" else 4 << 20
in_use, reserved = ocl.max_memory_allocated(), ocl.max_memory_reserved()
print(json.dumps([(in_use - parts) / need, reserved / in_use, None if parts else reserved / need]))
"""


def test_peak_of_a_training_step():
    output, _ = run(MEASURE, ROOT / "tools")
    in_use, reserved, reserved_without_parts = json.loads(output.splitlines()[-1])
    print(f"{in_use:.3f} of PyTorch's live tensors in use at the peak, {reserved:.3f} of that reserved")
    assert in_use <= 1.1
    # Segments are larger than what lives in them, and between that are holes.
    assert reserved <= 1.25 * 1.1
    assert reserved_without_parts is None or reserved_without_parts <= 1.3


ATTENTION = """
import ocl

def peak(length):
    query, key, value = (ocl.randn(2, length, 16, requires_grad=True) for _ in range(3))
    ocl.reset_peak_memory_stats()
    result = ocl.nn.functional.scaled_dot_product_attention(query, key, value, dropout_p=0.1)
    result.sum().backward()
    ocl.synchronize()
    return ocl.max_memory_allocated()

print(peak(2000), peak(8000))
"""


def test_attention_takes_memory_in_proportion_to_the_length():
    short, long = map(int, run(ATTENTION)[0].split()[-2:])
    print(f"{short / 2**20:.1f} MiB for 2000, {long / 2**20:.1f} MiB for 8000")
    assert long < 8 * short
    assert long < 2 * 8000 * 8000 * 4 / 2  # half of the matrices of scores
