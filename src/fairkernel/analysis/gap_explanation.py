"""The gap between two groups' mean scores, taken apart: a result that prints and draws itself."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from ..report.gap_plot import gap_figure
from ..report.html import render_gap
from ._tables import to_pandas

COLUMNS_SHOWN = 10  # by name in text and plot; the others are summed up


@dataclass(frozen=True, eq=False, repr=False)
class GapExplanation:
    """What ``explain_gap`` found.

    Parameters
    ----------
    gap : float
        Mean score of the first group minus that of the second.
    groups : tuple
        Labels of the two groups.
    means : tuple of float
        Their mean scores.
    columns : dict of str to ndarray
        "name", "contribution" and "standard_error" (0 where exact), by size of the contribution.
        ``contribution.sum() + interaction`` is the gap.
    rows : dict of str to ndarray
        "group" (None where it is not known), "score", "coefficient" c and "contribution" in the order of X.
        Contributions, c times score minus mean, sum to the gap; rows of other groups, of none and of no weight have 0.
    interaction : float
        What the columns do not carry one by one, groups that the score itself takes included; rounding where the
        columns are exact.
    exact : bool
        Whether the score is a sum over columns, so that their contributions are no estimates.
    score_name : str
        The score that was explained.
    """

    gap: float
    groups: tuple
    means: tuple[float, float]
    columns: dict[str, np.ndarray]
    rows: dict[str, np.ndarray]
    interaction: float
    exact: bool
    score_name: str

    @property
    def sentence(self) -> str:
        """The gap in words."""
        (a, b), (of_a, of_b) = self.groups, self.means
        return f"mean {self.score_name} of {a!r} ({of_a:.3g}) − of {b!r} ({of_b:.3g}) = {self.gap:.3g}"

    def __repr__(self) -> str:
        found = self._to_show(COLUMNS_SHOWN)
        parts = found["parts"]
        names = [" ".join(part["name"].split()) for part in parts]
        width = max(map(len, names))
        lines = [f"  {name:<{width}}  {part['text']}" for name, part in zip(names, parts, strict=True)]
        return "\n".join([f"{self.sentence}, by column ({found['how']}):", *lines])

    def to_frame(self) -> Any:
        """The columns as a table.

        Returns
        -------
        pandas.DataFrame
        """
        return to_pandas(self.columns)

    def plot(self, max_columns: int = COLUMNS_SHOWN) -> Any:
        """Contributions of the columns, beside the scores of both groups.

        Parameters
        ----------
        max_columns : int, default=10
            Columns that get a bar of their own; the others share one.

        Returns
        -------
        matplotlib.figure.Figure
        """
        _check_columns(max_columns)
        return gap_figure(self._to_show(max_columns))

    def _repr_html_(self) -> str | None:
        try:
            return render_gap(self._to_show(2 * COLUMNS_SHOWN))
        except ImportError:
            return None  # without jinja2 a notebook shows the text

    def _to_show(self, max_columns: int) -> dict[str, Any]:
        """Plain values for the page and the plot."""
        columns = [dict(zip(self.columns, cells, strict=True)) for cells in zip(*self.columns.values(), strict=True)]
        parts, rest = columns[:max_columns], columns[max_columns:]
        if rest:
            parts.append(
                {
                    "name": f"{len(rest)} other column{'' if len(rest) == 1 else 's'}",
                    "contribution": sum(column["contribution"] for column in rest),
                    "standard_error": sum(column["standard_error"] ** 2 for column in rest) ** 0.5,
                }
            )
        if not self.exact:
            # The gap has no error on these rows, and columns are permuted independently.
            error = float(np.sqrt(np.sum(self.columns["standard_error"] ** 2)))
            parts.append({"name": "interaction", "contribution": self.interaction, "standard_error": error})
        c, score = self.rows["coefficient"], self.rows["score"]
        a, b = map(str, self.groups)
        names = (a, b) if a != b else map(repr, self.groups)  # 0 and "0"
        return {
            "sentence": self.sentence,
            "how": "exact" if self.exact else "by permutation, ± standard error",
            "score_name": self.score_name,
            "parts": [part | {"text": _with_error(part)} for part in parts],
            "groups": [
                {"name": name, "mean": mean, "scores": score[side > 0], "shares": side[side > 0]}
                for name, mean, side in zip(names, self.means, (c, -c), strict=True)
            ],
        }


def _check_columns(max_columns: Any) -> None:
    if not isinstance(max_columns, Integral) or max_columns < 1:
        raise ValueError(f"max_columns must be an integer of at least 1; got {max_columns!r}.")


def _with_error(part: dict[str, Any]) -> str:
    error = f" ± {part['standard_error']:.2g}" if part["standard_error"] else ""
    return f"{part['contribution']:+.3g}{error}"
