#!/usr/bin/env python3
"""Writes autograd/ops/methods.cpp from the rows of autograd/ops/operators.def.

Tensor's methods are declared by the rows themselves (autograd/ops/declare_methods.def). A definition also
needs the names of the parameters, which no macro finds in a row. With --check nothing is written, and the
exit status tells whether the file is the one that would be.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
METHODS = ROOT / "autograd/ops/methods.cpp"
FACES = ("method", "both", "both_by_hand")

HEAD = """// Written by tools/generate_methods.py from the rows of operators.def: each calls its function.
// clang-format off
#include "autograd/autograd.h"

namespace ocl {

"""


def split_at_commas(text: str) -> list[str]:
    """The pieces of a text between its commas, but for those within brackets or quotes."""
    pieces, depth, quoted = [""], 0, False
    for character in text:
        quoted ^= character == '"'
        depth += not quoted and character in "({[<"
        depth -= not quoted and character in ")}]>"
        if character == "," and not depth and not quoted:
            pieces.append("")
        else:
            pieces[-1] += character
    return [" ".join(piece.split()) for piece in pieces]


def in_parentheses(text: str, begin: int) -> str:
    """The text within the parenthesis that opens at `begin`."""
    depth, quoted = 0, False
    for end in range(begin, len(text)):
        quoted ^= text[end] == '"'
        depth += not quoted and text[end] == "("
        depth -= not quoted and text[end] == ")"
        if depth == 0:
            return text[begin + 1 : end]
    raise ValueError(f"a parenthesis without its end: {text[begin : begin + 80]}")


def rows(page: Path) -> Iterator[list[str]]:
    """The fields of the rows of a page and of those that it includes; of an OVERLOAD without the key."""
    text = page.read_text(encoding="utf-8")
    for included in re.findall(r'^#include "(.*\.def)"$', text, re.MULTILINE):
        yield from rows(ROOT / included)
    for found in re.finditer(r"^(OPERATOR|OVERLOAD)\(", text, re.MULTILINE):
        fields = split_at_commas(in_parentheses(text, found.end() - 1))
        yield fields if found[1] == "OPERATOR" else fields[:1] + fields[2:]


def definition(name: str, result: str, parameters: str) -> str:
    """The method that a row's function is, called with the tensor as its first argument."""
    declared = [p.replace("KEYWORD_ONLY ", "").split(" = ")[0] for p in split_at_commas(parameters[1:-1])]
    qualifier = " const" if declared[0].startswith("const ") else ""
    arguments = ", ".join(["*this", *(re.search(r"\w+$", p)[0] for p in declared[1:])])
    head = f"{result} Tensor::{name}({', '.join(declared[1:])}){qualifier}"
    return f"{head} {{ return ocl::{name}({arguments}); }}\n"


def methods() -> str:
    """The file."""
    chosen = [fields[:3] for fields in rows(ROOT / "autograd/ops/operators.def") if fields[3] in FACES]
    return HEAD + "".join(definition(*fields) for fields in chosen) + "\n}  // namespace ocl\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail where the file would change"
    )
    if parser.parse_args().check:
        sys.exit(METHODS.read_text(encoding="utf-8") != methods() and f"{METHODS} is not what the rows say")
    METHODS.write_text(methods(), encoding="utf-8")


if __name__ == "__main__":
    main()
