"""How a setting is chosen from cross-validated figures of the training rows."""

import re
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Rule:
    """Lowest error, or lowest error among settings whose disparity is within a bound.

    Parameters
    ----------
    text : str
        The rule as the user wrote it.
    max_sd : float
        Infinite when there is no bound.
    published : bool
        Settings the paper states are taken from it; the rest by lowest error.
    """

    text: str
    max_sd: float = np.inf
    published: bool = False

    @classmethod
    def parse(cls, text: str) -> "Rule":
        """Read a rule.

        Parameters
        ----------
        text : str
            "error", "error subject to SD <= x" or "published".

        Returns
        -------
        Rule

        Examples
        --------
        >>> Rule.parse("error subject to SD <= 0.02").max_sd
        0.02
        """
        if text == "error":
            return cls(text)
        if text == "published":
            return cls(text, published=True)
        bound = re.fullmatch(r"error subject to SD\s*<=\s*([0-9.eE+-]+)", text.strip())
        try:
            max_sd = float(bound.group(1))  # type: ignore[union-attr]
        except (AttributeError, ValueError):
            raise ValueError(
                f"select={text!r} is not a rule; valid are 'error', 'published' and 'error subject to SD <= x'."
            ) from None
        if not 0 <= max_sd <= 1:
            raise ValueError(f"select={text!r}: SD is a difference of rates, so x must lie between 0 and 1.")
        return cls(text, max_sd=max_sd)

    def choose(self, error: np.ndarray, sd: np.ndarray) -> int:
        """Position of the chosen setting.

        Parameters
        ----------
        error, sd : ndarray of shape (settings,)
            Cross-validated on training rows.

        Returns
        -------
        int
            Ties go to the smaller disparity, then to the earlier setting. When no setting is within the bound,
            the smallest disparity.
        """
        allowed = sd <= self.max_sd
        if not allowed.any():
            return int(np.lexsort((error, sd))[0])
        ranked = np.lexsort((sd, np.where(allowed, error, np.inf)))
        return int(ranked[0])
