"""Figures of times."""

import statistics
import time

# The world's time, or that of the processors that all threads had, which others on the machine disturb less.
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def seconds_of_steps(step, wait, steps, clock):
    """Mean seconds of a step on the clock of that name, waited for once at the end."""
    now = CLOCKS[clock]
    start = now()
    for _ in range(steps):
        step()
    wait()
    return (now() - start) / steps


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
