"""From a group of fused nodes to a kernel in generated code, and the wrapper around all calls."""

from __future__ import annotations

from typing import Any

import torch
from torch._inductor import config
from torch._inductor.codegen.common import BackendFeature
from torch._inductor.codegen.simd import SIMDScheduling
from torch._inductor.codegen.wrapper import PythonWrapperCodegen, SubgraphPythonWrapperCodegen
from torch._inductor.utils import Placeholder, get_fused_kernel_name, get_kernel_metadata
from torch._inductor.virtualized import V
from torch.utils._ordered_set import OrderedSet

from torch_ocl.inductor import captures
from torch_ocl.inductor.kernel import OclKernel

_LONGEST_NAME = 80


class OclScheduling(SIMDScheduling):
    """Inductor's fusion of loops, with kernels of OpenCL C."""

    kernel_type = OclKernel

    @classmethod
    def get_backend_features(cls, device: torch.device) -> OrderedSet[BackendFeature]:
        return OrderedSet([BackendFeature.INPLACE_BUFFERS])

    def define_kernel(self, src_code: str, node_schedule: list[Any], kernel: OclKernel) -> str:
        """Writes the kernel once, however many nodes have it, and returns its name."""
        wrapper = V.graph.wrapper_code
        if src_code in wrapper.src_to_kernel:
            return wrapper.src_to_kernel[src_code]
        fused = get_fused_kernel_name(node_schedule, config.triton.descriptive_names)
        name = f"ocl_{fused}"[:_LONGEST_NAME].rstrip("_")
        variable = f"{name}_{wrapper.next_kernel_suffix()}"
        wrapper.src_to_kernel[src_code] = variable
        origins, detailed_origins = get_kernel_metadata(node_schedule, wrapper)
        source = src_code.replace(str(Placeholder.KERNEL_NAME), name)
        wrapper.define_kernel(variable, source, f"{origins}\n{detailed_origins}", gpu=False)
        return variable


class _Calls:
    """Calls and allocations of an ocl device in generated Python."""

    def _generate_kernel_call_helper(self, kernel_name: str, call_args: list[str], **options: Any) -> None:
        device = options.get("device") or V.graph.get_current_device_or_throw()
        if device.type == "ocl":
            self.writeline(self.wrap_kernel_call(kernel_name, call_args))
        else:
            super()._generate_kernel_call_helper(kernel_name, call_args, **options)

    def make_allocation(self, name: str, device: torch.device, *args: Any, **options: Any) -> str:
        line = super().make_allocation(name, device, *args, **options)
        if device.type == "ocl" and device.index is not None:
            return line.replace("device='ocl'", f"device='{device}'")
        return line


class OclWrapper(_Calls, PythonWrapperCodegen):
    """The module that Inductor writes."""

    def write_header(self) -> None:
        super().write_header()
        self.imports.writeline("from torch_ocl.inductor.runtime import CompiledKernel")
        if config.triton.cudagraphs:
            V.graph.disable_cudagraphs_reason = captures.reason_for(V.graph)


class OclSubgraphWrapper(_Calls, SubgraphPythonWrapperCodegen):
    """The writer of a function in it."""


def wrapper_of(
    is_subgraph: bool, subgraph_name: str | None, parent_wrapper: Any, partition_signatures: Any = None
) -> PythonWrapperCodegen:
    """The writer of a module, or of a function in it."""
    if is_subgraph:
        return OclSubgraphWrapper(subgraph_name, parent_wrapper, partition_signatures)
    return OclWrapper()
