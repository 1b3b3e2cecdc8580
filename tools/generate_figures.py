#!/usr/bin/env python3
"""Writes the chart and the tables of docs/performance.md and README.md from docs/figures.json.

The pages hold a table between two marks, ``<!-- figures: NAME -->`` and ``<!-- end of figures -->``. The
name is that of a table of docs/figures.json, or ``headlines``. The chart is docs/images/training-steps.svg.

``--check`` writes nothing and fails when a file is out of date.
"""

import argparse
import json
import math
import re
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/figures.json"
CHART = ROOT / "docs/images/training-steps.svg"
PAGES = (ROOT / "README.md", ROOT / "docs/performance.md")
MARKED = re.compile(r"(<!-- figures: (\S+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def read_figures(path=DATA):
    """The figures, whose numbers stay texts: 2.60 keeps its digits."""
    return json.loads(path.read_text(), parse_float=str, parse_int=str)


def ratios(table, ours, theirs):
    """{name of the row: our number divided by theirs}, of the rows that have both."""
    first, second = table["columns"].index(ours), table["columns"].index(theirs)
    return {
        row[0]: float(row[first]) / float(row[second])
        for row in table["rows"]
        if row[first] is not None and row[second] is not None
    }


def geometric_mean(numbers):
    return math.exp(math.fsum(map(math.log, numbers)) / len(numbers))


def lines_of(rows):
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def markdown(table):
    """A table, with a column of ratios for each pair that it names, and their geometric means below."""
    pairs = [(pair, ratios(table, *pair)) for pair in table["ratios"]]
    columns = [*table["columns"], *(f"{ours} / {theirs}" for (ours, theirs), _ in pairs)]
    rows = [[cell or "" for cell in row] for row in table["rows"]]
    for _, ratio in pairs:
        for row in rows:
            row.append(f"{ratio[row[0]]:.2f}" if row[0] in ratio else "")
    if pairs:
        empty = [""] * (len(table["columns"]) - 1)
        means = [f"**{geometric_mean(ratio.values()):.2f}**" for _, ratio in pairs]
        rows.append(["geometric mean", *empty, *means])
    return lines_of([columns, ["---"] * len(columns), *rows])


def headlines(figures):
    """A table of the geometric means, each with its conditions and what it is compared with."""
    rows = [["where", "beside", "a training step takes"], ["---"] * 3]
    for line in figures["headlines"]:
        ratio = ratios(figures["tables"][line["table"]], line["ours"], line["theirs"]).values()
        share = f"{geometric_mean(ratio):.2f} of its time ({min(ratio):.2f} to {max(ratio):.2f})"
        rows.append([line["where"], line["rival"], f"**{share}**"])
    return lines_of(rows)


def with_tables(text, figures, page):
    """The page's text with every marked table made anew.

    Raises:
        ValueError: a mark names a table that the figures do not have.
    """

    def table(match):
        name = match[2]
        if name == "headlines":
            return match[1] + headlines(figures) + match[3]
        if name not in figures["tables"]:
            raise ValueError(f"{page}: docs/figures.json has no table {name!r}")
        return match[1] + markdown(figures["tables"][name]) + match[3]

    return MARKED.sub(table, text)


# In pixels: the widths of a panel, of its names and of a ratio of 1, a row's height, the first row's place.
PANEL, NAMES, SCALE, ROW, TOP = 480, 132, 190, 24, 84
COLOURS = {"ours": "#2563a8", "slower": "#b45309", "text": "#1f2933", "faint": "#6b7785", "line": "#9aa5b1"}


def text(x, y, content, size=12, anchor="start", fill="text", weight="normal"):
    style = f'font-size="{size}" text-anchor="{anchor}" fill="{COLOURS[fill]}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(content)}</text>'


def panel(figures, chart, left):
    """The lines of one panel: a bar for each net, whose length is our share of their time."""
    table = figures["tables"][chart["table"]]
    first, second = (table["columns"].index(chart[side]) for side in ("ours", "theirs"))
    ratio = ratios(table, chart["ours"], chart["theirs"])
    zero, one = left + NAMES, left + NAMES + SCALE
    bottom = TOP + ROW * len(table["rows"])
    yield text(zero, 52, chart["title"], 14, weight="bold")
    yield text(zero, 70, f"geometric mean {geometric_mean(ratio.values()):.2f}", fill="faint")
    yield text(one, 70, "PyTorch", anchor="middle", fill="faint")
    yield text(one + 28, 70, "ours / theirs", 11, fill="faint")
    yield f'<line x1="{one}" y1="{TOP - 8}" x2="{one}" y2="{bottom}" stroke="{COLOURS["line"]}"/>'
    for number, row in enumerate(table["rows"]):
        y, share = TOP + ROW * number, ratio[row[0]]
        colour = COLOURS["ours" if share <= 1 else "slower"]
        yield text(zero - 8, y + 13, row[0], anchor="end")
        yield f'<rect x="{zero}" y="{y + 1}" width="{SCALE * share:.1f}" height="16" rx="2" fill="{colour}"/>'
        yield f'<text x="{zero + 6}" y="{y + 13}" font-size="11" fill="#ffffff">{share:.2f}</text>'
        yield text(one + 24, y + 13, f"{row[first]} / {row[second]} ms", 11, fill="faint")


def chart(figures):
    """The picture of training steps beside PyTorch's, as SVG."""
    panels = figures["chart"]
    rows = max(len(figures["tables"][part["table"]]["rows"]) for part in panels)
    width, height = PANEL * len(panels), TOP + ROW * rows + 16
    title = "A training step's time, as a share of PyTorch's (shorter is faster)"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" font-family="Helvetica, Arial, sans-serif" role="img">',
        f"<title>{title}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        text(16, 26, title, 16, weight="bold"),
    ]
    for number, part in enumerate(panels):
        lines += panel(figures, part, PANEL * number)
    return "\n".join([*lines, "</svg>", ""])


def generated(figures):
    """{path: text} of all that is made."""
    pages = {page: with_tables(page.read_text(), figures, page.name) for page in PAGES}
    return {CHART: chart(figures), **pages}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is out of date")
    args = parser.parse_args()
    for path, content in generated(read_figures()).items():
        if path.exists() and path.read_text() == content:
            continue
        if args.check:
            sys.exit(f"{path.relative_to(ROOT)} is out of date: run tools/generate_figures.py")
        path.write_text(content)


if __name__ == "__main__":
    main()
