"""The figures of a validation as text, Markdown and JSON."""

import math
import re
from dataclasses import asdict

from .comparison import FAIL, LIMIT, Comparison, Distance, Outcome, worst

HEADINGS = ("net", "mode", "input", "output", "gradient", "aligned", "at", "verdict")
KINDS = ("values", "gradients", "aligned", "decisions")


def figure(distance):
    """The distance from float64, and as a multiple of PyTorch float32's own."""
    return f"{distance.ours:.1e} ({distance.ratio:.2f}×)"


def row(outcome):
    """One line of the table, texts in the order of HEADINGS."""
    comparison = outcome.comparison
    aligned = worst(comparison.aligned)
    return (
        outcome.net,
        outcome.mode,
        "×".join(map(str, outcome.shape)),
        figure(worst(comparison.values)),
        figure(worst(comparison.gradients)),
        figure(aligned),
        aligned.name,
        outcome.verdict,
    )


class Table:
    """Lines of text as the outcomes come, in columns."""

    WIDTHS = (20, 6, 13, 17, 19, 17, 50, 0)

    def heading(self):
        return self._line(HEADINGS)

    def line(self, outcome):
        return self._line(row(outcome))

    def _line(self, texts):
        return "  ".join(text.ljust(width) for text, width in zip(texts, self.WIDTHS, strict=True)).rstrip()


def tensors(outcome):
    """Every tensor of an outcome, a line each."""
    return "\n".join(
        f"    {kind:9} {d.name:60} ours {d.ours:.2e}  PyTorch {d.torch:.2e}  {d.ratio:.2f}×"
        + ("" if d.passes else "  more")
        for kind in KINDS
        for d in getattr(outcome.comparison, kind)
    )


PAGE = """\
# Validated nets: {device}

Made by `{command}` on {device},
with {source}, beside {reference}.

Each net has the same weights in torchvision, in float64 and in float32 on the CPU, and here. An error is the
norm of the difference from float64 over the norm of the float64 tensor; in brackets, as a multiple of PyTorch
float32's own, which is the largest of three: as it comes, with channels last, and without oneDNN. At most
{limit:g} times is a pass.

- *output*: the worst of the outputs and, in train mode, of batch norm's statistics.
- *gradient*: the worst of the gradients of the pictures and of each parameter.
- *aligned*: the same, where float64 goes at each tie the way of the float32 that it is compared with; *at*
  names it. Near a tie of a ReLU or a max pool one rounding moves a gradient by percents, in PyTorch too, and
  so it may be more than {limit:g} times in the column before: *pass (kinks)*.

An error near or above 1 is of a gradient that is 0 but for roundings, such as a bias's before a batch norm.

| {headings} |
|{rule}
{rows}
"""


def markdown(outcomes, command, device, source, reference):
    """A page such as docs/validated-nets.md."""
    return PAGE.format(
        command=command,
        device=device,
        source=source,
        reference=reference,
        limit=LIMIT,
        headings=" | ".join(HEADINGS),
        rule="---|" * len(HEADINGS),
        rows="\n".join(f"| {' | '.join(row(outcome))} |" for outcome in outcomes),
    )


def as_json(outcomes, command, device, source, reference):
    """Every figure, as plain dicts and lists."""
    return {
        "command": command,
        "device": device,
        "source": source,
        "reference": reference,
        "nets": [
            {
                "net": outcome.net,
                "mode": outcome.mode,
                "shape": list(outcome.shape),
                "verdict": outcome.verdict,
                "seconds": outcome.seconds,
                **{
                    kind: [asdict(d) | {"ratio": d.ratio} for d in getattr(outcome.comparison, kind)]
                    for kind in KINDS
                },
            }
            for outcome in outcomes
        ],
    }


def from_json(figures):
    """The outcomes that as_json was given."""
    return [
        Outcome(
            net["net"],
            net["mode"],
            tuple(net["shape"]),
            Comparison(*([Distance(d["name"], d["ours"], d["torch"]) for d in net[kind]] for kind in KINDS)),
            net["seconds"],
        )
        for net in figures["nets"]
    ]


SHORT_HEADINGS = ("nets", "number", "output", "gradient", "passed")
BEGIN, END = "<!-- validated nets: tools/validate_network.py --readme -->", "<!-- end of validated nets -->"


def family(net):
    """The beginning of a net's name that its variants share."""
    return re.match("(wide_)?[a-z]+", net)[0]


def short_table(rows):
    """One line for each family, of the lines of the long table: the worst multiples of PyTorch's distance."""
    families = {}
    for line in rows:
        families.setdefault(family(line[0]), []).append(dict(zip(HEADINGS, line, strict=True)))

    def worst_multiple(lines, heading):
        multiples = [float(re.search(r"\((.+)×\)", line[heading])[1]) for line in lines]
        return f"{max(multiples, key=lambda m: math.inf if math.isnan(m) else m):.2f}×"

    return "\n".join(
        [f"| {' | '.join(SHORT_HEADINGS)} |", f"|{'---|' * len(SHORT_HEADINGS)}"]
        + [
            f"| {name} | {len({line['net'] for line in lines})} | {worst_multiple(lines, 'output')} "
            f"| {worst_multiple(lines, 'aligned')} "
            f"| {sum(line['verdict'] != FAIL for line in lines)} of {len(lines)} |"
            for name, lines in sorted(families.items())
        ]
    )


def between_marks(text):
    """(before, table, after) of a README, where the marks are.

    Raises:
        ValueError: they are not there, once each and in order.
    """
    parts = re.fullmatch(f"(.*{re.escape(BEGIN)}\n)(.*)(\n{re.escape(END)}.*)", text, re.DOTALL)
    if not parts or text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"there is no place for the table: {BEGIN} and {END}, each on a line of its own")
    return parts[1], parts[2].strip(), parts[3]


def with_short_table(text, rows):
    """A README with the table in its place."""
    before, _, after = between_marks(text)
    return f"{before}\n{short_table(rows)}\n{after}"


def rows_of_page(text):
    """The lines of the long table on the page."""
    lines = [line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [tuple(line) for line in lines if line != list(HEADINGS)]
