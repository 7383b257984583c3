"""What a benchmark is asked and what it answers."""

from dataclasses import dataclass, field

from models import N_FEATURES

SPEED_UP_AT, FIT_AT = 4000, 15_000  # rows at which the targets are judged


@dataclass(frozen=True)
class Sizes:
    """How large and how long: the targets are for the default sizes and are not judged at others."""

    ladder: tuple = (500, 1000, 2000, SPEED_UP_AT)
    n: int = FIT_AT
    n_features: int = N_FEATURES
    seconds: float = 6.0
    rounds: int = 40
    clock: str = "wall"

    @property
    def timing(self):
        return {"seconds": self.seconds, "rounds": self.rounds, "clock": self.clock}


@dataclass(frozen=True)
class Line:
    """One comparison.

    Parameters
    ----------
    what, ours_is, rival_is : str
    ours, rival : float
    unit : str
    ratio : float
    ratio_is : str
        Which over which.
    target : str
        Empty where there is none.
    met : bool or None
        None: no target, or not judged at this size.
    repeats : dict of str to list of float
        Every time behind the minima.
    """

    what: str
    ours_is: str
    ours: float
    rival_is: str
    rival: float
    unit: str
    ratio: float
    ratio_is: str
    target: str = ""
    met: bool | None = None
    repeats: dict = field(default_factory=dict)
