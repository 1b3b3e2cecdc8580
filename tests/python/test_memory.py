"""Device memory that a training step takes, beside what PyTorch's live tensors take in the same step."""

from pathlib import Path

from torch.profiler import ProfilerActivity, profile

import ocl

TOOLS = Path(__file__).parents[2] / "tools"


def torch_peak(trainer):
    """Bytes of PyTorch's live tensors at the peak of a step: what stays, and what the step adds to it."""
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


def test_peak_of_a_training_step(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    import bench

    model = bench.MODELS["mnist"]
    theirs, ours = bench.make_torch_trainer(model), bench.Trainer(ocl, ocl.synchronize, model)
    ocl.empty_cache()
    others_in_use, others_reserved = ocl.memory_allocated(), ocl.memory_reserved()
    for trainer in (theirs, ours):
        for _ in range(2):
            trainer.step()
    need = torch_peak(theirs)
    ocl.reset_peak_memory_stats()
    ours.step()
    in_use = ocl.max_memory_allocated() - others_in_use
    reserved = ocl.max_memory_reserved() - others_reserved
    print(
        f"of PyTorch's live tensors at the peak: {in_use / need:.3f} in use, {reserved / need:.3f} reserved"
    )
    assert in_use <= 1.1 * need
    assert reserved <= 1.3 * need
