"""Figures of times."""

import statistics


def spread(values):
    """Median, least and largest."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def in_milliseconds(figures):
    return " ".join(f"{name} {1000 * value:.2f}" for name, value in figures.items())


def by_turns(contenders, blocks):
    """{name: seconds of each block}, each timed by a function; by turns, so that all see the same machine."""
    times = {name: [] for name in contenders}
    for _ in range(blocks):
        for name, seconds_of_block in contenders.items():
            times[name].append(seconds_of_block())
    return times
