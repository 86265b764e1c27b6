"""The trend of a series: a line by least squares, with the confidence interval of its slope.

The interval is Student's, for residuals that are independent. Samples of one cycle are not: a fit
gets one value of each cycle.
"""

import math
import statistics
from dataclasses import dataclass
from typing import Sequence

CONFIDENCE = 0.95
POINTS_MIN = 3  # A line through two points leaves nothing to estimate its error from.


def student_within(t: float, freedom: int) -> float:
    """student_within is the probability that a variable of Student's t is between -t and t, by the
    finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    is_odd = freedom % 2 == 1
    term, total = (math.cos(angle), 0.0) if is_odd else (1.0, 0.0)
    for number in range(2 if is_odd else 1, freedom, 2):
        total += term
        term *= square * number / (number + 1)
    if is_odd:
        return 2 / math.pi * (angle + sine * total)
    return sine * total


def student_quantile(confidence: float, freedom: int) -> float:
    """student_quantile is the t with student_within(t) = confidence."""
    low, high = 0.0, 1.0
    while student_within(high, freedom) < confidence:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        if student_within(middle, freedom) < confidence:
            low = middle
        else:
            high = middle
    return high


@dataclass(frozen=True)
class Trend:
    """Trend is a line: `slope` is that of a unit of x, and its interval is slope ± `margin`."""

    start: float  # the line at the first x
    slope: float
    margin: float
    span: float  # from the first x to the last

    @property
    def growth(self) -> float:
        """growth along the whole line."""
        return self.slope * self.span

    @property
    def growth_low(self) -> float:
        return (self.slope - self.margin) * self.span

    @property
    def growth_high(self) -> float:
        return (self.slope + self.margin) * self.span


def fit(x: Sequence[float], y: Sequence[float]) -> Trend:
    """fit needs POINTS_MIN points at different x. Raises ValueError."""
    if len(x) < POINTS_MIN or len(x) != len(y):
        raise ValueError(f"a trend needs at least {POINTS_MIN} points")
    slope, intercept = statistics.linear_regression(x, y)
    middle = statistics.fmean(x)
    spread = sum((each - middle) ** 2 for each in x)
    residuals = sum((b - intercept - slope * a) ** 2 for a, b in zip(x, y))
    freedom = len(x) - 2
    error = math.sqrt(residuals / freedom / spread)
    first = min(x)
    return Trend(
        start=intercept + slope * first,
        slope=slope,
        margin=student_quantile(CONFIDENCE, freedom) * error,
        span=max(x) - first,
    )


@dataclass(frozen=True)
class Bound:
    """Bound is the growth that a series may have over a run: an amount, or a share of its start,
    whichever is more."""

    amount: float
    share: float = 0.0

    def above(self, start: float) -> float:
        return max(self.amount, self.share * start)


GROWS, STEADY, UNKNOWN = "grows", "steady", "cannot tell"


def verdict(trend: Trend, bound: Bound) -> str:
    """verdict GROWS needs both: an interval wholly above zero, and growth above the bound. STEADY
    means that growth above the bound lies outside of the interval. In between the run does not
    tell."""
    most = bound.above(trend.start)
    if trend.growth_low > 0 and trend.growth > most:
        return GROWS
    return STEADY if trend.growth_high <= most else UNKNOWN
