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

Each net has the same weights in torchvision, in float64 and in float32 on the CPU, and here. An error is
the norm of the difference from float64, over the norm of the float64 tensor. In brackets it is a multiple of
PyTorch float32's own error, which is the largest of three: as it comes, with channels last, and without
oneDNN. At most {limit:g} times is a pass.

- *output*: the worst of the outputs and, in train mode, of batch norm's statistics.
- *gradient*: the worst of the gradients of the pictures and of each parameter.
- *aligned*: the worst gradient again, where float64 takes float32's way at each tie; *at* names its tensor.

Near a tie of a ReLU or a max pool one rounding moves a gradient by per cents, in PyTorch too. So the gradient
may be more than {limit:g} times PyTorch's where the aligned one is not: *pass (kinks)*.

A gradient that is 0 but for rounding, such as a bias's before a batch norm, has an error near or above 1.

## Families

A row has the worst multiples of a family's nets in both modes; the gradient is the aligned one.

{families}

## Nets

| {headings} |
|{rule}
{rows}
"""


def markdown(outcomes, command, device, source, reference):
    """A page such as docs/validated-nets.md."""
    rows = [row(outcome) for outcome in outcomes]
    return PAGE.format(
        command=command,
        device=device,
        source=source,
        reference=reference,
        limit=LIMIT,
        headings=" | ".join(HEADINGS),
        rule="---|" * len(HEADINGS),
        families=short_table(rows),
        rows="\n".join(f"| {' | '.join(texts)} |" for texts in rows),
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


def rows_of_page(text):
    """The lines of the long table on the page."""
    lines = (tuple(line[2:-2].split(" | ")) for line in text.splitlines() if line.startswith("| "))
    return [line for line in lines if len(line) == len(HEADINGS) and line != HEADINGS]


def families_of_page(text):
    """The table of families on the page, as text."""
    heading = re.escape(f"| {' | '.join(SHORT_HEADINGS)} |")
    return re.search(rf"^{heading}\n(?:\|.*\n)+", text, re.MULTILINE)[0].strip()
