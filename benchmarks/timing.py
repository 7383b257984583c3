"""Times of tasks that take turns, so that a slow moment of the machine hits all of them."""

import time

# On one thread of a busy machine processor time is what wall-clock time would be on an idle one.
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
LEAST = 2  # repeats of the slowest task: one bad moment of the machine must not become its time


def interleaved(tasks, *, seconds=4.0, rounds=40, clock="wall"):
    """Times of each task, every one run in every round until it has had its share of seconds.

    Parameters
    ----------
    tasks : dict of str to callable
    seconds : float
        A task that has run this long altogether, and twice, is not run again.
    rounds : int
        Most repeats of a task.
    clock : {"wall", "cpu"}

    Returns
    -------
    dict of str to list of float
    """
    now = CLOCKS[clock]
    times = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            if len(times[name]) >= LEAST and sum(times[name]) >= seconds:
                continue
            start = now()
            task()
            times[name].append(now() - start)
    return times
