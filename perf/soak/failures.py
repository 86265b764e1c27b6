"""Which failures of honest clients are expected, and why. Every other one fails the run."""

from collections import Counter
from dataclasses import dataclass, field

Failure = tuple[str, str]  # the stage and the kind, as cleat-bench names them

# A killed server ends its connections, and cleat passes that on: the client has sent its request in
# part or in whole, and not got all of its answer. Such clients are at most those that were on that
# server. A client that comes later goes to the other server, and does not notice.
WITH_SERVER: frozenset[Failure] = frozenset({
    ("request", "reset"),
    ("answer", "reset"),
    ("answer", "closed early"),
    ("answer", "truncated"),
    ("answer", "answer cut off"),
})
# Above its capacity a server can serve late only. A client may give up, and one without a session
# may be shed before its turn (handshake-shed). Others may not be cut.
IN_FLOOD: frozenset[Failure] = frozenset({
    ("handshake", "reset"),
    ("connect", "timeout"),
    ("handshake", "timeout"),
    ("answer", "timeout"),
})
# Requests that were due just before the end of the time, while their connections waited. A machine
# with other work may stop for 0.2 s then; a server that is late shows in the p99.
AT_THE_END: Failure = ("start", "connection busy")
AT_THE_END_SHARE = 0.05


@dataclass
class Phase:
    """Phase is what became of the honest clients of a phase."""

    name: str
    attempts: int = 0
    failures: Counter[Failure] = field(default_factory=Counter)
    not_resumed: int = 0  # sessions that were offered, and did not resume
    expected: frozenset[Failure] = frozenset()
    expected_max: int | None = None  # None: any number

    def add(self, found: dict) -> None:
        """add counts a result of cleat-bench."""
        self.attempts += found["attempts"]
        for each in found["failures"]:
            self.failures[each["stage"], each["kind"]] += each["count"]
        handshakes = found["handshakes"]
        self.not_resumed += handshakes["offered"] - handshakes["resumed"]

    def unexpected(self) -> list[str]:
        """unexpected failures, in words."""
        said = []
        expected = 0
        for (stage, kind), count in sorted(self.failures.items()):
            if (stage, kind) in self.expected:
                expected += count
            elif (stage, kind) == AT_THE_END and count <= AT_THE_END_SHARE * self.attempts:
                continue
            else:
                said.append(f"{self.name}: {count} in {stage}: {kind}")
        if self.expected_max is not None and expected > self.expected_max:
            said.append(
                f"{self.name}: {expected} clients were cut, and {self.expected_max} were on the "
                "killed server"
            )
        if self.not_resumed:
            said.append(f"{self.name}: {self.not_resumed} sessions did not resume")
        return said

    def document(self) -> dict:
        return {
            "attempts": self.attempts,
            "failures": [[*failure, count] for failure, count in sorted(self.failures.items())],
            "expected_max": self.expected_max,
        }
