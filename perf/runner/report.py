"""What is made of the figures: medians, ratios with their spread, a table, and the targets."""

import statistics

# (scenario, server, reference, most): the median ratio to the reference, or the figure itself where
# there is none, must not be above `most`.
TARGETS = [
    ("handshake-ecdsa", "cleat", "epoll", 1.0),
    ("handshake-ecdsa", "cleat", "hitch", 0.6),
    ("handshake-ecdsa", "cleat", "nginx", 0.6),
    ("handshake-rsa", "cleat", "epoll", 1.0),
    ("download", "cleat", "nginx", 0.45),
    ("download", "cleat", "hitch", 0.45),
    ("download", "cleat", "asio", 0.4),
    ("upload", "cleat", "nginx", 0.45),
    ("upload", "cleat", "hitch", 0.45),
    ("upload", "cleat", "asio", 0.4),
    ("idle-memory", "cleat", None, 6.0),
    ("syscalls", "cleat", None, 18.0),
    ("two-workers", "cleat", None, 1.03),
]
IDLE_KIB_OPENSSL = 15.0


def ratios(figures: dict[str, list[float]], server: str, reference: str) -> list[float]:
    """The ratios of one server to another, each within one round."""
    return [a / b for a, b in zip(figures[server], figures[reference])]


def spread(values: list[float], digits: int) -> str:
    text = f"{statistics.median(values):.{digits}f}"
    return (
        text if len(values) == 1 else f"{text} ({min(values):.{digits}f}..{max(values):.{digits}f})"
    )


def table(title: str, unit: str, figures: dict[str, list[float]]) -> str:
    """One scenario: a line for each server, with its ratio to each of the others."""
    names = list(figures)
    digits = 1 if statistics.median(sum(figures.values(), [])) >= 5 else 3
    lines = [f"{title}{f' [{unit}]' if unit else ''}: median (min..max)"]
    for name in names:
        line = f"  {name:14}{spread(figures[name], digits):26}"
        against = [
            f"{spread(ratios(figures, name, other), 2)} of {other}"
            for other in names
            if other != name
        ]
        lines.append((line + "  ".join(against)).rstrip())
    return "\n".join(lines)


def check(results: dict[str, dict[str, list[float]]], cleat_version: str) -> tuple[list[str], bool]:
    """A line for each target that was measured, and whether all of them hold."""
    lines, held = [], True
    for scenario, server, reference, most in TARGETS:
        figures = results.get(scenario, {})
        if server not in figures or (reference and reference not in figures):
            continue
        if scenario == "idle-memory" and "OpenSSL" in cleat_version:
            most = IDLE_KIB_OPENSSL
        values = ratios(figures, server, reference) if reference else figures[server]
        # Judged as it is printed: to two digits.
        good = round(statistics.median(values), 2) <= most
        held &= good
        what = f"{server} / {reference}" if reference else server
        verdict = "PASS" if good else "FAIL"
        lines.append(f"{verdict}  {scenario:16} {what:16} {spread(values, 2)}, at most {most}")
    return lines, held
