"""Error at a given SD, area under the frontier and time, of the methods in the files of ours.py and rivals.py.

    python benchmarks/quality/frontiers.py ours.jsonl rivals.jsonl [--splits N]

The folds of a repeat are pooled, a knob's error and SD are averaged over the repeats, and the constant (SD 0, error of
the majority class) belongs to every method. Through the points that no other of the method's beats runs a line; its
error at an SD is what is shown. In brackets: standard error over the repeats by the jackknife; they share their rows,
so it is what another deal of the same people would change, not another sample of people. Seconds before the first
model are tuning and, with ours, the frontier of 100 settings; a rival has no point without a model. ``--splits``
looks at the first N splits alone: methods that were run on different numbers of repeats compare only there.
"""

import argparse
from collections import defaultdict

import numpy as np
from outcomes import pooled, read_lines
from tables import FOLDS, SPLITS

LEVELS = (0.02, 0.05, 0.10)
REACH = 0.15  # the area is the mean error over SD in [0, REACH]
POINTS = 100


def curves(lines):
    """(table, method) → array (repeats, knobs, 2) of SD and error, complete repeats only; and its seconds."""
    cells = defaultdict(lambda: defaultdict(list))
    for line in lines:
        cells[line["table"], line["method"]][line["split"] // FOLDS, line["knob"]].append(line)
    found = {}
    for key, parts in cells.items():
        knobs = sorted({knob for _, knob in parts}, key=lambda knob: -1.0 if knob is None else knob)
        repeats = sorted({repeat for repeat, _ in parts})
        whole = [r for r in repeats if all(len(parts.get((r, knob), ())) == FOLDS for knob in knobs)]
        if whole:
            figures = np.array([[pooled(parts[r, knob])[:2] for knob in knobs] for r in whole])
            found[key] = figures[..., ::-1], [line for part in parts.values() for line in part]
    return found


def constant_error(lines):
    """Error of the majority class over the pooled rows."""
    majority = [line for line in lines if line["method"] == "constant"]
    return pooled(majority)[0]


def at_levels(points, constant):
    """Error at each level and the area, of one set of (SD, error) points with the constant's added."""
    sd, error = np.vstack([[0.0, constant], points]).T
    order = np.lexsort((error, sd))
    sd, error = sd[order], np.minimum.accumulate(error[order])
    grid = np.linspace(0.0, REACH, 301)
    return np.append(np.interp(LEVELS, sd, error), np.interp(grid, sd, error).mean())


def with_error(figures, constant):
    """Values at the levels and their jackknife errors over the repeats."""
    value = at_levels(figures.mean(axis=0), constant)
    n = len(figures)
    if n < 2:
        return value, np.full_like(value, np.nan)
    left_out = np.array([at_levels(np.delete(figures, i, axis=0).mean(axis=0), constant) for i in range(n)])
    return value, np.sqrt((n - 1) / n * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))


def seconds(lines):
    """Seconds of a frontier of ``POINTS`` models: what is shared, once; the rest as many times."""
    shared = np.mean([line["shared_seconds"] for line in lines])
    return shared, shared + POINTS * np.mean([line["fit_seconds"] for line in lines])


def summary(lines):
    """Markdown, a table per data set."""
    found = curves(lines)
    for table in dict.fromkeys(table for table, _ in found):
        constant = found[table, "constant"][0][..., 1].mean()
        heads = [f"error at SD {level:g}" for level in LEVELS]
        yield f"\n{table} (constant: error {constant:.4f})\n"
        seconds_are = f"seconds before the first model | seconds of {POINTS} models"
        yield f"| method | {' | '.join(heads)} | mean error, SD to {REACH:g} | loosest SD, error | {seconds_are} |"
        yield "|" + " --- |" * (len(LEVELS) + 5)
        for (of, method), (figures, of_method) in found.items():
            if of != table or method == "constant":
                continue
            value, error = with_error(figures, constant)
            cells = [f"{v:.4f} ({e:.4f})" for v, e in zip(value, error, strict=True)]
            last = figures.mean(axis=0)[-1]
            shared, whole = seconds(of_method)
            cells += [f"{last[0]:.3f}, {last[1]:.4f}", f"{shared:.1f}", f"{whole:.1f}"]
            yield f"| {method} | {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--splits", type=int, default=len(SPLITS))
    options = parser.parse_args()
    print(*summary([line for line in read_lines(*options.files) if line["split"] < options.splits]), sep="\n")


if __name__ == "__main__":
    main()
