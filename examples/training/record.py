"""The files that a training leaves beside its weights: a table and curves."""

import csv
import os
from pathlib import Path

from matplotlib.figure import Figure

__all__ = ["plot_curves", "write_csv"]


def write_csv(rows, path):
    """One line an epoch; the file is replaced as a whole."""
    unfinished = Path(f"{path}.unfinished")
    with open(unfinished, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    os.replace(unfinished, path)


def plot_curves(rows, path):
    """Losses, accuracies and the learning rate over the epochs, as a picture."""

    def column(name):
        return [row[name] for row in rows]

    epochs = column("epoch")
    figure = Figure(figsize=(14, 4), layout="constrained")
    losses, accuracies, rates = figure.subplots(1, 3)
    losses.plot(epochs, column("train_loss"), label="training")
    losses.plot(epochs, column("test_loss"), label="test")
    losses.set(xlabel="epoch", ylabel="loss")
    losses.legend()
    accuracies.plot(epochs, column("test_top1"), label="top 1")
    accuracies.plot(epochs, column("test_top5"), label="top 5")
    accuracies.set(xlabel="epoch", ylabel="test accuracy (%)")
    accuracies.legend()
    rates.plot(epochs, column("lr"))
    rates.set(xlabel="epoch", ylabel="learning rate at its end")
    figure.savefig(path)
