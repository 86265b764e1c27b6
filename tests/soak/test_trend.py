"""The fit of a soak: known figures, a slope that is there, and one that is not."""

import random

import pytest

from soak.trend import (
    GROWS, STEADY, UNKNOWN, Bound, fit, student_quantile, student_within, verdict,
)  # fmt: skip

CYCLES = [15.0 * number for number in range(8)]
LONG = [15.0 * number for number in range(120)]


@pytest.mark.parametrize(
    "freedom, quantile",
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (5, 2.5706), (10, 2.2281), (119, 1.9801)],
)
def test_quantiles_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert student_quantile(0.95, freedom) == pytest.approx(quantile, abs=5e-5)


def test_other_confidences_are_those_of_the_tables() -> None:
    assert student_quantile(0.99, 10) == pytest.approx(3.1693, abs=5e-5)
    assert student_quantile(0.5, 1) == pytest.approx(1, abs=1e-9)
    assert student_within(0, 7) == 0


def test_a_fit_has_the_figures_of_anscombes_first_set() -> None:
    x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
    y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]
    found = fit(x, y)
    assert found.slope == pytest.approx(0.50009, abs=5e-6)
    assert found.margin == pytest.approx(0.11791 * 2.26216, abs=2e-5)
    assert found.start == pytest.approx(3.00009 + 4 * 0.50009, abs=2e-5)
    assert found.growth == pytest.approx(5.0009, abs=5e-5)


def test_two_points_are_no_trend() -> None:
    with pytest.raises(ValueError, match="at least 3 points"):
        fit([0, 1], [0, 1])


def noise(seed: int, count: int, deviation: float) -> list[float]:
    chance = random.Random(seed)
    return [chance.gauss(0, deviation) for _ in range(count)]


def test_a_leak_is_found_below_noise() -> None:
    """A tenth of a descriptor a cycle, below noise of two."""
    leak = [233 + 0.1 * number + each for number, each in enumerate(noise(1, 120, 2))]
    assert verdict(fit(LONG, leak), Bound(3)) == GROWS


def test_a_leak_without_noise_is_found_in_a_short_run() -> None:
    assert verdict(fit(CYCLES, [233 + number for number in range(8)]), Bound(3)) == GROWS


def test_noise_does_not_grow() -> None:
    """An interval of 95 % holds the true slope in 95 of 100 runs. Chance is above it in one of
    forty, but not above a bound."""
    fits = [fit(CYCLES, noise(seed, 8, 2)) for seed in range(2000)]
    assert sum(each.growth_low <= 0 <= each.growth_high for each in fits) == pytest.approx(
        1900, abs=40
    )
    assert not any(verdict(each, Bound(10)) == GROWS for each in fits)


def test_a_constant_is_steady() -> None:
    assert verdict(fit(CYCLES, [233.0] * 8), Bound(3)) == STEADY


def test_a_sure_but_small_slope_is_allowed() -> None:
    """The last step of a warm-up: it is above zero, and below the bound."""
    found = fit(CYCLES, [14.6, 15.2, 15.6, 15.9, 16.1, 16.2, 16.2, 16.3])
    assert found.growth_low > 0
    assert verdict(found, Bound(4)) == STEADY


def test_noise_above_the_bound_does_not_tell() -> None:
    found = fit(CYCLES, noise(3, 8, 20))
    assert verdict(found, Bound(3)) == UNKNOWN


def test_what_shrinks_is_steady() -> None:
    assert verdict(fit(CYCLES, [-5.0 * number for number in range(8)]), Bound(3)) == STEADY


def test_a_bound_may_be_a_share_of_the_start() -> None:
    doubled = fit(CYCLES, [10 + 10 * number / 7 for number in range(8)])
    assert verdict(doubled, Bound(5, 0.5)) == GROWS
    assert verdict(doubled, Bound(5, 1.5)) == STEADY
