"""Samples: which of a cycle's are compared with those of others."""

from soak.samples import REST, Samples


def rows(*values: tuple[int, str, int]) -> Samples:
    """rows are samples of memory: their cycle, phase and value, one a second."""
    samples = Samples(site=None)
    samples.rows = [
        {"seconds": float(second), "cycle": cycle, "phase": phase, "memory": value}
        for second, (cycle, phase, value) in enumerate(values)
    ]
    return samples


WAVES = rows(
    (0, "calm", 9), (0, REST, 9),
    (1, "calm", 5), (1, "flood", 80), (1, REST, 70),
    (2, "calm", 75), (2, "reloads", 6), (2, REST, 60),
)  # fmt: skip


def test_a_wave_of_memory_that_goes_back_is_not_compared() -> None:
    assert WAVES.least("memory", 1) == ([2.0, 6.0], [5, 6])


def test_other_series_have_their_value_at_rest() -> None:
    assert WAVES.at_rest("memory", 1) == ([4.0, 7.0], [70, 60])
