"""The loops around a kernel's statements.

A kernel makes *rows*: elements of a pointwise kernel, results of a reduction. Its statements come in
segments: those done once for each row, and those done for each element that a row is reduced from. Six forms
put loops around them (runtime.CompiledKernel says how each is launched). CPUs get loops that their compilers
vectorize, over the elements of a row or over neighbouring rows. GPUs get a work item for each element, or a
line of them for each row.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import sympy
from torch._inductor.codegen.common import IndentedBuffer
from torch._inductor.virtualized import V
from torch.utils._sympy.functions import FloorDiv

from torch_ocl.inductor.reductions import Accumulator
from torch_ocl.inductor.runtime import CPU_BLOCK, CPU_TILE, GROUP

_SHORT_ROW = 32  # elements; a CPU walks shorter stretches together, at the price of divisions
_PART = 1024  # elements that are summed before the sum is added to that of the others


@dataclass
class Segment:
    """Statements of one row (``reduces`` False) or of one element of it."""

    reduces: bool
    body: IndentedBuffer
    accumulators: list[Accumulator] = field(default_factory=list)

    def lines(self) -> list[str]:
        return self.body.getvalue().splitlines()


@dataclass
class Dimension:
    """A loop that indices are made of, the innermost first."""

    name: str
    size: sympy.Expr

    def is_shorter_than(self, bound: int) -> bool:
        return isinstance(self.size, sympy.Integer) and int(self.size) < bound


class Space:
    """The dimensions of rows, or of elements, and what each of Inductor's index variables is in them."""

    def __init__(self, trees: list, prefix: str, text: Callable[[sympy.Expr], str]) -> None:
        self.dimensions: list[Dimension] = []
        self.entries: dict[str, str] = {}  # index variable: its expression
        self.first_tree = 0  # dimensions of the innermost tree
        self._text = text
        for tree in trees:
            self._add(tree, prefix)
            self.first_tree = self.first_tree or len(self.dimensions)

    def _add(self, tree, prefix: str) -> None:
        bounds = _chain(tree)
        first = len(self.dimensions)
        if bounds is None:
            self.dimensions.append(Dimension(f"{prefix}{first}", tree.numel))
            name = self.dimensions[-1].name
            for entry in tree.nodes.values():
                index = f"({name} / ({self._text(entry.divisor)}))" if entry.divisor != 1 else name
                self.entries[entry.name] = f"({index} % ({self._text(entry.length)}))"
            return
        simplify = V.graph.sizevars.simplify
        for low, high in zip(bounds, bounds[1:], strict=False):
            size = simplify(FloorDiv(high, low))
            self.dimensions.append(Dimension(f"{prefix}{len(self.dimensions)}", size))
        for entry in tree.nodes.values():
            begin, end = _place(bounds, entry.divisor), _place(bounds, entry.divisor * entry.length)
            terms = []
            for k in range(begin, end):
                factor = simplify(FloorDiv(bounds[k], entry.divisor))
                name = self.dimensions[first + k].name
                terms.append(name if factor == 1 else f"{name} * ({self._text(factor)})")
            self.entries[entry.name] = " + ".join(terms) or "0"

    def size_of(self, begin: int = 0, end: int | None = None) -> str:
        """The product of sizes of those dimensions."""
        sizes = [f"({self._text(d.size)})" for d in self.dimensions[begin:end]]
        return " * ".join(sizes) or "1"

    def static_size(self, begin: int = 0, end: int | None = None) -> int | None:
        result = 1
        for d in self.dimensions[begin:end]:
            if not isinstance(d.size, sympy.Integer):
                return None
            result *= int(d.size)
        return result

    def inner_count(self) -> int:
        """How many of the innermost dimensions a CPU's loop takes together."""
        count, size = 1, 1
        for count, d in enumerate(self.dimensions, 1):
            if not isinstance(d.size, sympy.Integer):
                return count
            size *= int(d.size)
            if size >= _SHORT_ROW:
                return count
        return count

    def split(self, linear: str, begin: int = 0, end: int | None = None) -> list[str]:
        """Declarations of those dimensions' indices, of their common one."""
        chosen = self.dimensions[begin:end]
        if len(chosen) == 1:
            return [f"const index_t {chosen[0].name} = {linear};"]
        lines, rest = [], linear
        for d in chosen[:-1]:
            lines.append(f"const index_t {d.name} = {rest} % ({self._text(d.size)});")
            lines.append(f"const index_t {d.name}_rest = {rest} / ({self._text(d.size)});")
            rest = f"{d.name}_rest"
        if chosen:
            lines.append(f"const index_t {chosen[-1].name} = {rest};")
        return lines

    def declare(self, statements: str) -> list[str]:
        """Declarations of the index variables in those statements."""
        used = set(re.findall(r"\b(?:[xyz]|r0_|r1_)\d+\b", statements))
        return [f"const index_t {name} = {self.entries[name]};" for name in self.entries if name in used]


def _chain(tree) -> list[sympy.Expr] | None:
    """Where the index variables of a tree begin and end, each a multiple of the one before; None: not so."""
    sizevars = V.graph.sizevars
    bounds: list[sympy.Expr] = [sympy.S.One]
    candidates = [tree.numel]
    for entry in tree.nodes.values():
        candidates += [entry.divisor, entry.divisor * entry.length]
    for candidate in candidates:
        candidate = sizevars.simplify(candidate)
        if not any(sizevars.statically_known_equals(candidate, bound) for bound in bounds):
            bounds.append(candidate)
    bounds.sort(key=lambda bound: sizevars.optimization_hint(bound, fallback=1 << 20))
    for low, high in zip(bounds, bounds[1:], strict=False):
        if not sizevars.statically_known_multiple_of(high, low):
            return None
    if not sizevars.statically_known_equals(bounds[-1], tree.numel):
        return None
    return bounds if len(bounds) > 1 else [sympy.S.One, sympy.S.One]


def _place(bounds: list[sympy.Expr], wanted: sympy.Expr) -> int:
    equals = V.graph.sizevars.statically_known_equals
    return next(k for k, bound in enumerate(bounds) if equals(bound, wanted))


class Loops:
    """Writes one kernel's body in a form."""

    def __init__(self, segments: list[Segment], rows: Space, elements: Space | None, in_vectors: str) -> None:
        self._segments, self._rows, self._elements = segments, rows, elements
        self._vectors = in_vectors  # the line before a loop that may run in vectors; empty: it may not
        self._code = IndentedBuffer()

    def write(self, form: str) -> str:
        self._reducing = any(segment.reduces for segment in self._segments)
        if form in ("lines", "columns"):
            self._write_group(form)
        elif form == "items":
            self._write_items()
        elif form == "cpu-outer":
            self._write_cpu_outer()
        elif form == "cpu-tiles":
            self._write_cpu_tiles()
        elif self._reducing:
            self._write_cpu_inner()
        else:
            self._write_cpu_pointwise()
        return self._code.getvalue()

    def _put(self, *lines: str) -> None:
        for line in lines:
            self._code.writeline(line)

    # ---- a CPU's work item walks a stretch of rows

    def _stretch(self, first: int = 0) -> None:
        self._put(
            "#define ROW_STORE",
            "#define ELEMENT_STORE",
            f"const index_t all_rows = {self._rows.size_of(first)};",
            "const index_t begin = get_global_id(0) * stretch;",
            "const index_t end = begin + stretch < all_rows ? begin + stretch : all_rows;",
        )

    def _neighbours(self, count: int, most: int | None) -> None:
        """Opens a loop over stretches of the innermost ``count`` dimensions, from ``start`` to ``stop``."""
        rows = self._rows
        self._put(
            f"const index_t inner = {rows.size_of(0, count)};",
            "for (index_t row = begin; row < end;) {",
            "const index_t outer = row / inner, start = row - outer * inner;",
            "index_t stop = inner < start + end - row ? inner : start + end - row;",
        )
        if most is not None:
            self._put(f"stop = stop < start + {most} ? stop : start + {most};")
        self._put(*rows.split("outer", count))

    def _write_cpu_pointwise(self) -> None:
        self._stretch()
        count = self._rows.inner_count()
        self._neighbours(count, None)
        self._put(self._vectors, "for (index_t i = start; i < stop; ++i) {")
        self._put(*self._rows.split("i", 0, count))
        lines = [line for segment in self._segments for line in segment.lines()]
        self._put(*self._rows.declare("\n".join(lines)), *lines)
        self._put("}", "row += stop - start;", "}")

    def _write_cpu_tiles(self) -> None:
        """For tensors of which one has neighbours where another has rows: in tiles that caches hold."""
        rows, count = self._rows, self._rows.first_tree
        self._stretch(count)
        self._put(
            f"const index_t inner = {rows.size_of(0, count)};",
            f"for (index_t top = begin; top < end; top += {CPU_TILE})",
            f"for (index_t left = 0; left < inner; left += {CPU_TILE // 2}) {{",
            f"const index_t bottom = top + {CPU_TILE} < end ? top + {CPU_TILE} : end;",
            f"const index_t right = left + {CPU_TILE // 2} < inner ? left + {CPU_TILE // 2} : inner;",
            "for (index_t outer = top; outer < bottom; ++outer) {",
        )
        self._put(*rows.split("outer", count))
        self._put(self._vectors, "for (index_t i = left; i < right; ++i) {", *rows.split("i", 0, count))
        lines = [line for segment in self._segments for line in segment.lines()]
        self._put(*rows.declare("\n".join(lines)), *lines, "}", "}", "}")

    def _write_cpu_inner(self) -> None:
        self._stretch()
        self._put("for (index_t row = begin; row < end; ++row) {")
        self._put(*self._rows.split("row"), *self._rows.declare(self._all_lines()))
        for segment in self._segments:
            if segment.reduces:
                self._cpu_elements(segment)
            else:
                self._put(*segment.lines())
        self._put("}")

    def _all_lines(self) -> str:
        return "\n".join(line for segment in self._segments for line in segment.lines())

    def _cpu_elements(self, segment: Segment) -> None:
        elements, count = self._elements, self._elements.inner_count()
        for each in segment.accumulators:
            self._declare(each.fields(), each.names())
        self._put("{")
        outer = elements.dimensions[count:]
        for d in reversed(outer):
            self._put(f"for (index_t {d.name} = 0; {d.name} < {elements._text(d.size)}; ++{d.name}) {{")
        inner = elements.static_size(0, count)
        in_parts = bool(segment.accumulators) and (inner is None or inner > _PART)
        self._put(f"const index_t inner = {elements.size_of(0, count)};")
        if in_parts:
            self._put(
                f"for (index_t first = 0; first < inner; first += {_PART}) {{",
                f"const index_t last = first + {_PART} < inner ? first + {_PART} : inner;",
            )
        for each in segment.accumulators:
            self._declare(each.fields(), each.names("_part"))
        begin, end = ("first", "last") if in_parts else ("0", "inner")
        self._put(self._vectors, f"for (index_t j = {begin}; j < {end}; ++j) {{")
        self._put(*elements.split("j", 0, count))
        lines = segment.lines()
        self._put(*elements.declare("\n".join(lines)), *lines)
        for each in segment.accumulators:
            position = self._position() if each.uses_position() else ""
            self._put(*each.update(each.names("_part"), position))
        self._put("}")
        for each in segment.accumulators:
            self._put(*each.join(each.names(), each.names("_part")))
        self._put("}" * (len(outer) + in_parts + 1))
        self._put_results(segment)

    def _declare(self, fields: list[tuple[str, str]], names: list[str]) -> None:
        for (ctype, start), name in zip(fields, names, strict=True):
            self._put(f"{ctype} {name} = {start};")

    def _put_results(self, segment: Segment) -> None:
        for each in segment.accumulators:
            finished = each.finish(each.names())
            for ctype, name, value in zip(each.result_types, each.results, finished, strict=True):
                self._put(f"const {ctype} {name} = {value};")

    def _position(self) -> str:
        """An element's place among those of its row."""
        terms, stride = [], "1"
        for d in self._elements.dimensions:
            terms.append(f"{d.name} * ({stride})")
            stride += f" * ({self._elements._text(d.size)})"
        return " + ".join(terms)

    # ---- the same, with neighbouring rows side by side

    def _write_cpu_outer(self) -> None:
        self._stretch()
        count = self._rows.inner_count()
        self._neighbours(count, CPU_BLOCK)
        carried = self._carried()
        for ctype, name in carried.values():
            self._put(f"{ctype} {name}_of[{CPU_BLOCK}];")
        for index, segment in enumerate(self._segments):
            if segment.reduces:
                self._cpu_outer_elements(segment, index, carried, count)
            else:
                self._open_rows(count)
                self._outer_body(segment, index, carried, [])
                self._put("}")
        self._put("row += stop - start;", "}")

    def _open_rows(self, count: int) -> None:
        self._put(
            self._vectors, "for (index_t i = start; i < stop; ++i) {", "const index_t lane = i - start;"
        )
        self._put(*self._rows.split("i", 0, count))

    def _cpu_outer_elements(self, segment: Segment, index: int, carried: dict, count: int) -> None:
        elements = self._elements
        fields = [
            (ctype, start, name)
            for each in segment.accumulators
            for (ctype, start), name in zip(each.fields(), each.names(), strict=True)
        ]
        for ctype, _, name in fields:
            self._put(f"{ctype} {name}[{CPU_BLOCK}], {name}_part[{CPU_BLOCK}];")
        if fields:
            starts = "".join(f"{name}[lane] = {name}_part[lane] = {start}; " for _, start, name in fields)
            self._put(f"for (int lane = 0; lane < {CPU_BLOCK}; ++lane) {{ {starts}}}")
        self._put("{", "int added = 0;")
        for d in reversed(elements.dimensions):
            self._put(f"for (index_t {d.name} = 0; {d.name} < {elements._text(d.size)}; ++{d.name}) {{")
        self._open_rows(count)
        updates = []
        for each in segment.accumulators:
            position = self._position() if each.uses_position() else ""
            updates += each.update([f"{name}_part[lane]" for name in each.names()], position)
        self._outer_body(segment, index, carried, updates)
        self._put("}")
        joins = [
            line
            for each in segment.accumulators
            for line in each.join(
                [f"{n}[lane]" for n in each.names()], [f"{n}_part[lane]" for n in each.names()]
            )
        ]
        if joins:  # so that a long sum is one of short ones
            restart = [f"{name}_part[lane] = {start};" for _, start, name in fields]
            self._put(
                "if (++added == 64) {", "added = 0;", f"for (int lane = 0; lane < {CPU_BLOCK}; ++lane) {{"
            )
            self._put(*joins, *restart, "}", "}")
        self._put("}" * len(elements.dimensions))
        if joins:
            self._put(f"for (int lane = 0; lane < {CPU_BLOCK}; ++lane) {{", *joins, "}")
        self._put("}")

    def _outer_body(self, segment: Segment, index: int, carried: dict, updates: list[str]) -> None:
        lines = segment.lines()
        text = "\n".join(lines + updates)
        self._put(*self._rows.declare(text))
        if segment.reduces:
            self._put(*self._elements.declare(text))
        used = set(re.findall(r"\w+", text))
        for each in (e for earlier in self._segments[:index] for e in earlier.accumulators):
            if used & set(each.results):
                finished = each.finish([f"{name}[lane]" for name in each.names()])
                for ctype, name, value in zip(each.result_types, each.results, finished, strict=True):
                    self._put(f"const {ctype} {name} = {value};")
        for ctype, name in carried.values():
            if name in used and not _declares(lines, name):
                self._put(f"const {ctype} {name} = {name}_of[lane];")
        self._put(*lines, *updates)
        for _, name in carried.values():
            if _declares(lines, name):
                self._put(f"{name}_of[lane] = {name};")

    def _carried(self) -> dict[str, tuple[str, str]]:
        """Variables of a row that later segments read."""
        found = {}
        for index, segment in enumerate(self._segments):
            later = "\n".join(
                "\n".join(s.lines() + [v for a in s.accumulators for v in a.values])
                for s in self._segments[index + 1 :]
            )
            names = set(re.findall(r"\w+", later))
            for line in segment.lines():
                match = _DECLARATION.match(line)
                if match and match[2] in names and not segment.reduces:
                    found[match[2]] = (match[1], match[2])
        return found

    # ---- a GPU's work item for each element

    def _write_items(self) -> None:
        self._put(
            "#define ROW_STORE",
            "#define ELEMENT_STORE",
            "const index_t row = get_global_id(0);",
            f"if (row >= {self._rows.size_of()}) return;",
        )
        lines = [line for segment in self._segments for line in segment.lines()]
        self._put(*self._rows.split("row"), *self._rows.declare("\n".join(lines)), *lines)

    # ---- a line of a GPU's work items for each row

    def _write_group(self, form: str) -> None:
        lane, line = (0, 1) if form == "lines" else (1, 0)
        self._put(
            "#define ROW_STORE if (is_row && lane == 0)",
            "#define ELEMENT_STORE if (is_row)",
            f"const int lane = get_local_id({lane}), lanes = get_local_size({lane});",
            f"const int slot = get_local_id({line}) * lanes + lane;",
            f"const index_t all_rows = {self._rows.size_of()}, its_row = get_global_id({line});",
            "const bool is_row = its_row < all_rows;",
            "const index_t row = is_row ? its_row : all_rows - 1;",
        )
        shared = {}
        for segment in self._segments:
            for each in segment.accumulators:
                for (ctype, _), name in zip(each.fields(), each.names(), strict=True):
                    shared[name] = f"__local {ctype} {name}_of[{GROUP}];"
        self._put(*shared.values())
        self._put(*self._rows.split("row"), *self._rows.declare(self._all_lines()))
        for segment in self._segments:
            if segment.reduces:
                self._group_elements(segment)
            else:
                self._put(*segment.lines())

    def _group_elements(self, segment: Segment) -> None:
        elements = self._elements
        for each in segment.accumulators:
            self._declare(each.fields(), each.names())
        self._put(f"for (index_t element = lane; element < {elements.size_of()}; element += lanes) {{")
        lines = segment.lines()
        self._put(*elements.split("element"), *elements.declare("\n".join(lines)), *lines)
        for each in segment.accumulators:
            self._put(*each.update(each.names(), "element"))
        self._put("}")
        if not segment.accumulators:
            self._put("barrier(CLK_GLOBAL_MEM_FENCE);")
            return
        names = [name for each in segment.accumulators for name in each.names()]
        self._put(*(f"{name}_of[slot] = {name};" for name in names))
        self._put("barrier(CLK_LOCAL_MEM_FENCE);", "for (int step = lanes / 2; step > 0; step /= 2) {")
        self._put("if (lane < step) {")
        for each in segment.accumulators:
            self._put(*each.join(each.names(), [f"{name}_of[slot + step]" for name in each.names()]))
        self._put(
            *(f"{name}_of[slot] = {name};" for name in names), "}", "barrier(CLK_LOCAL_MEM_FENCE);", "}"
        )
        self._put(*(f"{name} = {name}_of[slot - lane];" for name in names))
        self._put("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);")
        self._put_results(segment)


_DECLARATION = re.compile(r"\s*(?:const )?(bool|u?char|u?short|u?int|u?long|float|double) (\w+)(?: =|;)")


def _declares(lines: list[str], name: str) -> bool:
    return any((match := _DECLARATION.match(line)) and match[2] == name for line in lines)
