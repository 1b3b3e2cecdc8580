"""One kernel: what Inductor asks of it while it walks the fused nodes."""

from __future__ import annotations

import itertools
from typing import Any

import sympy
import torch
from torch._inductor.codegen.common import (
    CSE,
    CSEVariable,
    DeferredLine,
    IndentedBuffer,
    SizeArg,
    TensorArg,
)
from torch._inductor.codegen.simd import IterationRangesEntry, SIMDKernel
from torch._inductor.codegen.triton_utils import should_unwrap_unspec_arg
from torch._inductor.utils import Placeholder
from torch._inductor.virtualized import V
from torch.utils._sympy.symbol import SymT, free_symbol_is_type, symbol_is_type
from torch.utils._sympy.value_ranges import ValueRanges

from torch_ocl.inductor.expressions import IndexPrinter
from torch_ocl.inductor.interface import properties_of
from torch_ocl.inductor.loops import Loops, Segment, Space
from torch_ocl.inductor.operators import OclOverrides
from torch_ocl.inductor.prelude import prelude
from torch_ocl.inductor.reductions import Accumulator, accumulated_type
from torch_ocl.inductor.types import computed_type, converted, loaded, stored, stored_type


class TypedCSE(CSE):
    """Declares each variable with the C type of its dtype."""

    def generate(self, buffer, expr, *, dtype=None, assignment=True, **options):
        if assignment and dtype is not None and not isinstance(dtype, (list, tuple)):
            self.prefix = f"{computed_type(dtype)} "
        return super().generate(buffer, expr, dtype=dtype, assignment=assignment, **options)


class OclKernel(SIMDKernel):
    """Collects segments of statements (loops.py), and makes of them a kernel and its call."""

    overrides = OclOverrides
    suffix = ";"
    sexpr = staticmethod(IndexPrinter().doprint)
    kexpr = sexpr

    def __init__(self, tiling: dict[str, sympy.Expr], **options: Any) -> None:
        super().__init__(tiling, **options)
        self.cse = TypedCSE("", self.suffix)
        self._segments: list[Segment] = []
        self._accumulators: list[Accumulator] = []  # of the loop under way
        self._row_stores = IndentedBuffer()  # behind it
        self._row_variables: set[CSEVariable] = set()  # that outlive a loop
        self._result_count = itertools.count()
        self._checks: list[str] = []
        self._touched: list[sympy.Expr] = []  # places in loops, from which the form is chosen
        self._scatters = False
        self._properties = properties_of(V.graph.get_current_device_or_throw())

    def dtype_to_str(self, dtype: torch.dtype) -> str:
        return computed_type(dtype)

    def codegen_iteration_ranges_entry(self, entry: IterationRangesEntry) -> None:
        """Nothing: loops declare the index variables that their statements have."""

    # ---- memory

    def load(self, name: str, index: sympy.Expr) -> CSEVariable:
        pointer = self.args.input(name)
        index = self._prepared(index)
        dtype = V.graph.get_dtype(name)
        self._require(dtype)
        number = should_unwrap_unspec_arg(name)  # of the host's: it is an argument itself
        text = (
            converted(pointer, None, computed_type(dtype))
            if number
            else loaded(dtype, pointer, self.index_to_str(index))
        )
        computed = torch.float32 if computed_type(dtype) == "float" else dtype
        return self.cse.generate(self.loads, text, dtype=computed, shape=())

    def store(self, name: str, index: sympy.Expr, value: CSEVariable, mode: str | None = None) -> None:
        if mode is not None:
            raise NotImplementedError(f"torch.compile on ocl devices: a kernel cannot store by {mode}")
        line = self._store_line(name, self._prepared(index), value)
        guard = "ELEMENT_STORE" if self.inside_reduction else "ROW_STORE"
        self.stores.writeline(DeferredLine(name, f"{guard} {line}"))

    def store_reduction(self, name: str, index: sympy.Expr, value: CSEVariable) -> None:
        line = self._store_line(name, self.prepare_indexing(index), value)
        self._row_stores.writeline(DeferredLine(name, f"ROW_STORE {line}"))

    def _store_line(self, name: str, index: sympy.Expr, value: CSEVariable) -> str:
        pointer = self.args.output(name)
        dtype = V.graph.get_dtype(name)
        self._require(dtype)
        self._scatters |= free_symbol_is_type(index, SymT.TMP)
        return stored(dtype, pointer, self.index_to_str(index), str(value))

    def _prepared(self, index: sympy.Expr) -> sympy.Expr:
        index = self.prepare_indexing(index)
        if self.inside_reduction:
            self._touched.append(index)
        return index

    def _require(self, dtype: torch.dtype) -> None:
        if dtype == torch.float64 and not self._properties.has_fp64:
            raise TypeError(f"torch.compile: {self._properties.name} has no float64")

    # ---- checks

    def check_bounds(self, expr: sympy.Expr, size: sympy.Expr, lower: bool, upper: bool) -> None:
        """A bad index is reported where the host waits, and element 0 is taken in its place."""
        index, bound = self.index_to_str(expr), self.index_to_str(size)
        conditions = [f"{index} < 0"] * lower + [f"{index} >= {bound}"] * upper
        if not conditions:
            return
        check = self._check("index out of range in a kernel of torch.compile: ")
        self.compute.writeline(f"if ({' || '.join(conditions)}) {{")
        self.compute.writeline(f"  FAILED({check}, {index})")
        if isinstance(expr, sympy.Symbol) and symbol_is_type(expr, SymT.TMP):
            self.compute.writeline(f"  {index} = 0;")
        self.compute.writeline("}")

    def device_assert_async(self, cond: CSEVariable, msg: str) -> None:
        check = self._check(f"{msg}: ")
        self.compute.writeline(f"if (!({cond})) {{ FAILED({check}, 0) }}")

    def _check(self, message: str) -> int:
        if message not in self._checks:
            self._checks.append(message)
        return self._checks.index(message)

    # ---- reductions

    def reduction(
        self,
        dtype: torch.dtype,
        src_dtype: torch.dtype,
        reduction_type: str,
        value: CSEVariable | tuple[CSEVariable, ...],
    ) -> CSEVariable | tuple[CSEVariable, ...]:
        key = (src_dtype, reduction_type, value)
        if key not in self.cse.reduction_cache:
            self.cse.reduction_cache[key] = self._begin_reduction(dtype, src_dtype, reduction_type, value)
        return self.cse.reduction_cache[key]

    def _begin_reduction(self, dtype, src_dtype, kind, value):
        known = (
            "sum",
            "prod",
            "any",
            "max",
            "min",
            "xor_sum",
            "argmax",
            "argmin",
            "welford_reduce",
            "welford_combine",
        )
        if kind not in known:
            raise NotImplementedError(f"torch.compile on ocl devices: no reduction {kind}")
        values = value if isinstance(value, tuple) else (value,)
        ctype = accumulated_type(kind, src_dtype)
        if kind in ("any", "argmax", "argmin", "max", "min"):
            ctype = computed_type(values[0].dtype)
        count = 3 if kind.startswith("welford") else 1
        result_dtype = torch.float32 if computed_type(dtype) == "float" else dtype
        results = tuple(
            self.create_cse_var(
                f"red{next(self._result_count)}", dtype=result_dtype, shape=(), bounds=ValueRanges.unknown()
            )
            for _ in range(count)
        )
        self._accumulators.append(
            Accumulator(
                f"acc_{results[0]}",
                kind,
                ctype,
                tuple(map(str, values)),
                tuple(map(str, results)),
                (computed_type(dtype),) * count,
                self.index_dtype == "long",
            )
        )
        self._row_variables.update(results)
        return results if count > 1 else results[0]

    # ---- segments

    def codegen_body(self) -> None:
        """Ends a segment."""
        body = IndentedBuffer()
        for part in (self.loads, self.compute, self.stores):
            body.splice(part)
            part.clear()
        is_loop = self.inside_reduction
        if body or self._accumulators:
            self._segments.append(Segment(is_loop, body, self._accumulators))
            self._accumulators = []
        if self._row_stores:
            self._segments.append(Segment(False, self._row_stores))
            self._row_stores = IndentedBuffer()
        if is_loop:
            self.cse.invalidate(self._row_variables)
        else:
            self._row_variables.update(self.cse._cache.values())
            self._row_variables.update(self.cse.store_cache.values())

    def codegen_kernel(self, name: str | None = None) -> str:
        """The expression of a CompiledKernel."""
        self.codegen_body()
        reduces = any(segment.reduces for segment in self._segments)
        row_trees = [t for t in self.range_trees if not t.is_reduction]
        rows = Space(row_trees[::-1] if row_trees else [], "row_", self.index_to_str)
        elements = None
        if reduces:
            element_trees = [t for t in self.range_trees if t.is_reduction]
            elements = Space(element_trees[::-1], "element_", self.index_to_str)
        form = self._chosen_form = self._form(reduces)
        wide = 8 if self._uses_double() else 16
        vectors = "" if self._scatters else f"VECTOR_LOOP({wide})"
        body = Loops(self._segments, rows, elements, vectors).write(form)
        kernel = self._signature(form) + body + "}\n"
        source = prelude(kernel) + kernel
        arguments = (str(Placeholder.KERNEL_NAME), form, source, self._checks, not self._uses_double())
        lines = ["CompiledKernel("]
        for argument in arguments:
            if argument is source:
                lines += ["r'''", source.rstrip(), "''',"]
            else:
                lines.append(f"{argument!r},")
        return "\n".join([*lines, ")"])

    def _uses_double(self) -> bool:
        return any("double" in line for segment in self._segments for line in segment.lines()) or any(
            accumulator.ctype == "double"
            for segment in self._segments
            for accumulator in segment.accumulators
        )

    def _form(self, reduces: bool) -> str:
        on_cpu = self._properties.kernel_shape == "cpu"
        if not reduces:
            return "items" if not on_cpu else "cpu-tiles" if self._is_tiled() else "cpu"
        if self._has_neighbouring_rows():
            return "cpu-outer" if on_cpu else "columns"
        return "cpu" if on_cpu else "lines"

    def _is_tiled(self) -> bool:
        """Whether Inductor found tensors that lie across each other, and large enough for it to matter."""
        trees = [tree for tree in self.range_trees if not tree.is_reduction]
        sizes = V.graph.sizevars
        return len(trees) > 1 and all(
            sizes.optimization_hint(tree.numel, fallback=64) >= _LEAST_TILED for tree in trees
        )

    def _has_neighbouring_rows(self) -> bool:
        """Whether most of what a loop touches lies side by side for rows, not for a row's elements."""
        innermost: dict[bool, set[sympy.Symbol]] = {False: set(), True: set()}
        for symbol, entry in self.range_tree_nodes.items():
            if entry.divisor == 1:
                innermost[entry.is_reduction].add(symbol)
        votes = {False: 0, True: 0}
        for index in self._touched:
            if not any(index.has(symbol) for symbol in self._reduction_symbols()):
                continue  # once a row
            for is_reduction, symbols in innermost.items():
                votes[is_reduction] += any(index.coeff(symbol) == 1 for symbol in symbols)
        return votes[False] > votes[True]

    def _reduction_symbols(self) -> list[sympy.Symbol]:
        return [symbol for symbol, entry in self.range_tree_nodes.items() if entry.is_reduction]

    def _signature(self, form: str) -> str:
        parameters, numbers, lines = [], [], []
        _, _, arguments, _ = self.args.python_argdefs()
        for argument in arguments:
            if isinstance(argument, TensorArg) and should_unwrap_unspec_arg(argument.buffer):
                real = argument.dtype.is_floating_point
                numbers.append(f"const {'REAL_NUMBER' if real else 'long'} {argument.name}")
            elif isinstance(argument, TensorArg):
                ctype = stored_type(argument.dtype)
                parameters.append(f"BUFFER({ctype}, {argument.name})")
                start = f"{argument.name}_start" + (" / 2" if argument.dtype in _OF_BYTES else "")
                lines.append(
                    f"__global {ctype} *restrict {argument.name} = {argument.name}_buffer + {start};"
                )
            elif isinstance(argument, SizeArg) and _is_real(argument.expr):
                numbers.append(f"const REAL_NUMBER {argument.name}")
            elif isinstance(argument, SizeArg):
                numbers.append(f"const long {argument.name}_given")
                lines.append(f"const index_t {argument.name} = (index_t){argument.name}_given;")
            else:
                raise NotImplementedError(f"torch.compile on ocl devices: no kernel argument {argument}")
        parameters += numbers
        if form.startswith("cpu"):
            parameters.append("const long stretch_given")
            lines.append("const index_t stretch = (index_t)stretch_given;")
        for k in range(len(self._checks)):
            parameters.append(f"__global ErrorWord *error_word{k}, const int error_code{k}")
        return (
            f"typedef {self.index_dtype} index_t;\n"
            f"__kernel void {Placeholder.KERNEL_NAME}({', '.join(parameters)}) {{\n" + "\n".join(lines) + "\n"
        )

    def call_kernel(self, name: str, node: Any = None, deallocate_ws: bool = True) -> None:
        """Writes the call."""
        wrapper = V.graph.wrapper_code
        tensors, numbers = [], []
        _, calls, arguments, _ = self.args.python_argdefs()
        for call, argument in zip(calls, arguments, strict=True):
            if isinstance(argument, TensorArg) and should_unwrap_unspec_arg(argument.buffer):
                numbers.append(f"{call}.item()")
            elif isinstance(argument, TensorArg):
                tensors.append(call)
            else:
                numbers.append(wrapper.codegen_python_sizevar(argument.expr))
        counts = {False: sympy.S.One, True: sympy.S.One}  # of rows, and of what is in one
        for tree in self.range_trees:
            is_inner = tree.prefix == "x" and self._chosen_form == "cpu-tiles"
            counts[tree.is_reduction or is_inner] *= tree.numel
        rows, reduced = (
            wrapper.codegen_python_sizevar(V.graph.sizevars.simplify(n)) for n in counts.values()
        )
        wrapper.generate_kernel_call(
            name,
            [f"[{', '.join(tensors)}]", f"[{', '.join(numbers)}]", rows, reduced],
            device=V.graph.get_current_device_or_throw(),
            triton=False,
            arg_types=[list, list, int, int],
        )


_LEAST_TILED = 8  # rows and columns of a tensor that is walked in tiles

# Their elements have two bytes, and no kernels of the library's: the place of the first is counted in bytes.
_OF_BYTES = (torch.uint16,)


def _is_real(expr: Any) -> bool:
    return isinstance(expr, sympy.Symbol) and symbol_is_type(expr, (SymT.FLOAT, SymT.UNBACKED_FLOAT))
