"""The figures of a validation as text, Markdown and JSON."""

from dataclasses import asdict

from .comparison import LIMIT, worst

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
# Validated nets

Made by `{command}` on {device},
with {source}.

Each net has the same weights in torchvision on the CPU, in float64 and in float32, and here. An error is the
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


def markdown(outcomes, command, device, source):
    """The page docs/validated-nets.md."""
    return PAGE.format(
        command=command,
        device=device,
        source=source,
        limit=LIMIT,
        headings=" | ".join(HEADINGS),
        rule="---|" * len(HEADINGS),
        rows="\n".join(f"| {' | '.join(row(outcome))} |" for outcome in outcomes),
    )


def as_json(outcomes, command, device, source):
    """Every figure, as plain dicts and lists."""
    return {
        "command": command,
        "device": device,
        "source": source,
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
