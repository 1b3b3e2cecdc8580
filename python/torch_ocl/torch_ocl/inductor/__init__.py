"""``torch.compile`` on ocl devices: Inductor's fused loops as OpenCL C, all else by eager mode's kernels.

Nothing here is imported before Inductor is. The parts:

- ``registration``   the classes that Inductor and Dynamo look up by the device's name
- ``interface``      the device for Dynamo: indices, properties, streams
- ``scheduling``     from a group of fused nodes to a kernel and its call
- ``kernel``         loads, stores and reductions of one kernel (a subclass of Inductor's SIMDKernel)
- ``operators``      the C expression of each of Inductor's operators
- ``reductions``     the fields that a reduction keeps, and how two are joined
- ``loops``          the loops around all that, for CPUs and for GPUs
- ``lowerings``      which operators of aten stay calls
- ``runtime``        what generated code calls: one kernel with its launch sizes
- ``captures``       ``mode="reduce-overhead"``: calls that are captured and replayed

Here as everywhere in Inductor private interfaces of PyTorch are used, those of the release that ``torch_ocl``
is built for.
"""

from __future__ import annotations

from torch_ocl._when_imported import when_imported


def install() -> None:
    """Registers the device as soon as Dynamo, and Inductor, are imported."""
    when_imported("torch._dynamo.trace_rules", _keep_calls)
    when_imported("torch._dynamo.device_interface", _register_interface)
    when_imported("torch._inductor.codegen.common", _register_backend)
    when_imported("torch._inductor.lowering", _change_lowerings)
    when_imported("torch._inductor.graph", _change_layouts)
    when_imported("torch._inductor.output_code", _install_captures)


def _keep_calls(module) -> None:
    """Functions of ``torch.ocl`` are called, not traced into: they end in compiled ones."""
    module.add("torch_ocl")


def _register_interface(module) -> None:
    from torch_ocl.inductor import registration

    registration.register_interface(module)


def _change_lowerings(module) -> None:
    from torch_ocl.inductor import registration

    registration.change_lowerings(module)


def _change_layouts(module) -> None:
    from torch_ocl.inductor import registration

    registration.change_layouts(module)


def _install_captures(module) -> None:
    from torch_ocl.inductor import registration

    registration.install_captures(module)


def _register_backend(module) -> None:
    from torch_ocl.inductor import registration

    registration.register_backend(module)
