"""tools/check_prose: what it finds, and that the tree stays within its bounds."""

import importlib.machinery
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "tools/check_prose"


def load():
    loader = importlib.machinery.SourceFileLoader("check_prose", str(PROGRAM))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module  # dataclasses look there
    loader.exec_module(module)
    return module


prose = load()


def findings(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return [(f.line, f.kind) for f in prose.findings_of(tmp_path / name, tmp_path)]


def test_the_tree_is_within_its_bounds():
    counts = prose.counts_of([f for file in prose.tracked_files() for f in prose.findings_of(file)])
    above = prose.exceeded(counts, json.loads(prose.BOUNDS.read_text()))
    assert not above, "\n".join(above)


@pytest.mark.parametrize("area", ["pages", "docs", "headers"])
def test_nothing_may_be_found_where_users_read(area):
    assert not any(json.loads(prose.BOUNDS.read_text())[area].values())


@pytest.mark.parametrize(
    "sentence",
    [
        "Of the others one is left.",
        "What packs operands does not ask.",
        "As above, for volumes.",
        "The same in three dimensions.",
        "(As above.)",
        "**What helped.** More.",
    ],
)
def test_fragments(tmp_path, sentence):
    assert findings(tmp_path, "page.md", sentence) == [(1, "fragment")]


@pytest.mark.parametrize(
    "sentence",
    ["What takes the time?", "Of course it does.", "It is as above.", "Ofen and Asbest.", "# What it is"],
)
def test_no_fragments(tmp_path, sentence):
    assert findings(tmp_path, "page.md", sentence) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "A step takes 46.6 ms for 55.6.",
        "It takes 0.26 and 0.97 ms for 0.67 and 1.62.",
        "The rate is 290 TFLOP/s for 204 TFLOP/s, as measured.",
        "This is for who packs an operand.",
        "It walks forth and back.",
        "Errors are told of by the queue.",
        "It serves what has no places.",
    ],
)
def test_riddles(tmp_path, sentence):
    assert findings(tmp_path, "page.md", sentence) == [(1, "riddle")]


@pytest.mark.parametrize(
    "sentence",
    [
        "It takes 46.6 ms, was 55.6.",
        "Tiles of 8 for 32 channels run.",
        "It takes 3 ms for 4 images.",
        "It takes 20 us for 12.8 MB.",
    ],
)
def test_no_riddles(tmp_path, sentence):
    assert findings(tmp_path, "page.md", sentence) == []


def test_long_sentences_cross_lines_and_not_paragraphs(tmp_path):
    words = "word " * 15
    assert findings(tmp_path, "page.md", f"It is short.\nA {words}\n{words}.") == [(2, "long sentence")]
    assert findings(tmp_path, "page.md", f"{words}\n\n{words}\n\n- {words}\n- {words}") == []
    assert findings(tmp_path, "page.md", "`a b c d e` " * 9) == []  # a piece of code is a word


def test_long_lines_but_for_tables(tmp_path):
    line = "x" * 121
    assert findings(tmp_path, "page.md", f"{line}\n| {line} |\n{line[1:]}") == [(1, "long line")]
    assert findings(tmp_path, "code.h", f"int {line};\n// {line}\n") == [(2, "long line")]


def test_code_on_pages_is_no_prose(tmp_path):
    assert findings(tmp_path, "page.md", "```\nOf code.\n```\n<!-- Of marks. -->\n| Of tables. |\n") == []


def test_comments_of_cpp(tmp_path):
    source = """\
const char* text = "// Of a string.";  // Of a comment.
/**
 * A doc comment.
 * What it does.
 */
// It goes on
// below. As here.
//   row     (name,    types)   Of a table
"""
    expected = [(1, "fragment"), (4, "fragment"), (7, "fragment")]
    for ending in ("h", "cpp", "cl"):
        assert findings(tmp_path, f"code.{ending}", source) == expected


def test_comments_and_docstrings_of_python(tmp_path):
    source = '''\
"""A program.

As it stands.
"""

text = "Of a string."  # Of a comment.


def f():
    """What f does::

        # As an example
    """
'''
    assert findings(tmp_path, "code.py", source) == [(3, "fragment"), (6, "fragment"), (10, "fragment")]


def test_bounds_only_fall():
    def counts(number):
        return {"docs": {"fragment": number}}

    assert prose.lowered(counts(3), counts(5)) == counts(3)
    assert prose.lowered(counts(7), counts(5)) == counts(5)
    assert prose.exceeded(counts(7), counts(5)) == ["docs: 7 of kind 'fragment', the bound is 5"]
    assert prose.exceeded(counts(5), counts(5)) == []
    assert prose.exceeded(counts(1), {}) == ["docs: 1 of kind 'fragment', the bound is 0"]


def test_the_program_names_the_line(tmp_path):
    done = subprocess.run([PROGRAM, "README.md"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith("programs")
    refused = subprocess.run([PROGRAM, "--check", "README.md"], cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "bounds are those of the whole tree" in refused.stderr
