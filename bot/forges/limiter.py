"""Keep under GitHub's secondary limits: how long to wait before the next request of an installation. No I/O, no clock.

The numbers: https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
"""

from collections import deque
from dataclasses import dataclass, field

READ_POINTS = 1
WRITE_POINTS = 5
MINUTE_S = 60.0
HOUR_S = 3600.0
SECONDARY_S = 60.0  # the least to wait after a secondary limit that names no time
MOST_REFUSALS = 5  # sixteen minutes
CONTENT = ((75, MINUTE_S), (480, HOUR_S))  # writes that people see, a little below GitHub's 80 and 500


@dataclass(slots=True)
class Window:
    """So much within so many seconds, sliding."""

    most: int
    span_s: float
    _taken: deque[tuple[float, int]] = field(default_factory=deque)
    _sum: int = 0

    def wait_s(self, amount: int, now: float) -> float:
        """Return the seconds until this much fits; 0 where it does now."""
        self._forget(now)
        over = self._sum + amount - self.most
        for at, taken in self._taken:
            if over <= 0:
                break
            over -= taken
            if over <= 0:
                return max(at + self.span_s - now, 0.0)
        return 0.0

    def take(self, amount: int, now: float) -> None:
        """Count what was used."""
        self._taken.append((now, amount))
        self._sum += amount

    def _forget(self, now: float) -> None:
        while self._taken and self._taken[0][0] + self.span_s <= now:
            self._sum -= self._taken.popleft()[1]


@dataclass(slots=True)
class Limiter:
    """What one installation may still ask; the limits stand a little below GitHub's own."""

    points: Window = field(default_factory=lambda: Window(850, MINUTE_S))
    writes_a_minute: Window = field(default_factory=lambda: Window(*CONTENT[0]))
    writes_an_hour: Window = field(default_factory=lambda: Window(*CONTENT[1]))
    blocked_until: float = 0.0
    refusals: int = 0  # in a row that named no time: each waits longer than the one before

    def wait_s(self, now: float, *, is_write: bool, is_content: bool = False) -> float:
        """Return the seconds to wait before a request; content is what people see: comments, pull requests, checks."""
        waits = [self.blocked_until - now, self.points.wait_s(WRITE_POINTS if is_write else READ_POINTS, now)]
        if is_content:
            waits += [self.writes_a_minute.wait_s(1, now), self.writes_an_hour.wait_s(1, now)]
        return max(0.0, *waits)

    def take(self, now: float, *, is_write: bool, is_content: bool = False) -> None:
        """Count a request."""
        self.points.take(WRITE_POINTS if is_write else READ_POINTS, now)
        if is_content:
            self.writes_a_minute.take(1, now)
            self.writes_an_hour.take(1, now)

    def backoff_s(self, now: float) -> float:
        """Return how long to wait after a refusal that names no time: a minute, and twice as long each time."""
        if now >= self.blocked_until:  # else it was on its way together with the one that is counted
            self.refusals = min(self.refusals + 1, MOST_REFUSALS)
        return float(SECONDARY_S * 2 ** max(self.refusals - 1, 0))

    def block(self, until: float) -> None:
        """Ask nothing before this time: the forge said so."""
        self.blocked_until = max(self.blocked_until, until)
