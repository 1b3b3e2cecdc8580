"""The figures of a validation as text, Markdown and JSON."""

from .comparison import KINK_LIMIT, LIMIT, worst

HEADINGS = (
    "net",
    "mode",
    "input",
    "output",
    "gradient",
    "worst at",
    "smooth output",
    "smooth gradient",
    "verdict",
)


def figure(distance):
    """The distance from float64, and as a multiple of PyTorch float32's own."""
    return "-" if distance is None else f"{distance.ours:.1e} ({distance.ratio:.2f}×)"


def row(outcome):
    """One line of the table, texts in the order of HEADINGS."""
    gradient = worst(outcome.exact.gradients)
    state = worst(outcome.exact.outputs + outcome.exact.buffers)
    smooth = outcome.smooth
    return (
        outcome.net,
        outcome.mode,
        "×".join(map(str, outcome.shape)),
        figure(state),
        figure(gradient),
        gradient.name,
        figure(smooth and worst(smooth.outputs + smooth.buffers)),
        figure(smooth and worst(smooth.gradients)),
        outcome.verdict,
    )


class Table:
    """Lines of text as the outcomes come, in columns."""

    WIDTHS = (20, 6, 12, 16, 16, 40, 16, 16, 0)

    def heading(self):
        return self._line(HEADINGS)

    def line(self, outcome):
        return self._line(row(outcome))

    def _line(self, texts):
        return "  ".join(text.ljust(width) for text, width in zip(texts, self.WIDTHS, strict=True)).rstrip()


def parameters(outcome):
    """Every tensor of an outcome, a line each."""
    lines = []
    for title, comparison in (("exact", outcome.exact), ("smooth", outcome.smooth)):
        if comparison is None:
            continue
        for distance in comparison.outputs + comparison.gradients + comparison.buffers:
            mark = "" if distance.passes else "  FAIL"
            lines.append(
                f"    {title:7} {distance.name:60} ours {distance.ours:.2e}  PyTorch {distance.torch:.2e}  "
                f"{distance.ratio:.2f}×{mark}"
            )
    return "\n".join(lines)


PAGE = """\
# Validated nets

Made by `{command}` on {device}.

Each net has the same weights in torchvision on the CPU, in float64 and in float32, and here. An error is the
norm of the difference from float64 over the norm of the float64 tensor; in brackets, as a multiple of PyTorch
float32's own. *output*: the worst of the outputs and, in train mode, of batch norm's statistics; *gradient*:
the worst of those of the pictures and of each parameter. At most {limit:g} times is a pass. An error above 1
is of a gradient that is 0 but for roundings, such as a bias's before a batch norm.

Near a tie of a ReLU or a max pool one rounding moves a gradient by percents, in PyTorch too. So every net
with such kinks is compared again with smooth functions in their place, and must pass there. *pass (kinks)* is
one that passes there alone, while gradients, and nothing else, are off by no more than {kinks:.0%}.

| {headings} |
|{rule}
{rows}
"""


def markdown(outcomes, command, device):
    """The page docs/validated-nets.md."""
    return PAGE.format(
        command=command,
        device=device,
        limit=LIMIT,
        kinks=KINK_LIMIT,
        headings=" | ".join(HEADINGS),
        rule="---|" * len(HEADINGS),
        rows="\n".join(f"| {' | '.join(row(outcome))} |" for outcome in outcomes),
    )


def as_json(outcomes, command, device):
    """Every figure, as plain dicts and lists."""

    def figures(comparison):
        return comparison and {
            kind: [
                {"name": d.name, "ours": d.ours, "torch": d.torch, "ratio": d.ratio}
                for d in getattr(comparison, kind)
            ]
            for kind in ("outputs", "gradients", "buffers")
        }

    return {
        "command": command,
        "device": device,
        "nets": [
            {
                "net": outcome.net,
                "mode": outcome.mode,
                "shape": list(outcome.shape),
                "verdict": outcome.verdict,
                "seconds": outcome.seconds,
                "exact": figures(outcome.exact),
                "smooth": figures(outcome.smooth),
            }
            for outcome in outcomes
        ],
    }
