"""How much a user may ask of a team's engine, and how much may wait. Knows no HTTP."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamLimits:
    """The most that is taken on. ``burst`` of the fills ``per_minute`` may come at once."""

    max_in_flight: int = 4  # of a user
    per_minute: int = 300  # of a user; a typing user asks for about one a second
    burst: int = 30
    max_waiting: int = 64  # of all users


@dataclass(frozen=True, kw_only=True, slots=True)
class Busy:
    """A request is not taken on now. ``is_own``: the user has asked for too much."""

    reason: str
    retry_after_s: int
    is_own: bool


@dataclass(kw_only=True, slots=True)
class _Use:
    """One user's requests in flight, and how many more the user may begin."""

    left: float
    counted_at: float
    num_in_flight: int = 0


class Quotas:
    """Counts fills and places to read ahead of each user. Times are of time.monotonic()."""

    def __init__(self, limits: TeamLimits) -> None:
        self._limits = limits
        self._uses: dict[str, _Use] = {}
        self._reads: dict[str, _Use] = {}

    @property
    def num_in_flight(self) -> int:
        """The fills of all users that have begun, or wait."""
        return sum(use.num_in_flight for use in self._uses.values())

    def begin(self, user: str, now: float, *, num_waiting: int) -> Busy | None:
        """Count a fill that begins; ``end`` must follow. Else return why it may not."""
        limits, use = self._limits, self._use(self._uses, user, now)
        if num_waiting >= limits.max_waiting:
            return Busy(reason="the engine is busy", retry_after_s=1, is_own=False)
        if use.num_in_flight >= limits.max_in_flight:
            return Busy(
                reason=f"{use.num_in_flight} of your fills are running",
                retry_after_s=1,
                is_own=True,
            )
        if use.left < 1:
            wait_s = (1 - use.left) * 60 / limits.per_minute
            return Busy(
                reason=f"you have asked for more than {limits.per_minute} fills a minute",
                retry_after_s=max(1, round(wait_s + 0.5)),
                is_own=True,
            )
        use.left -= 1
        use.num_in_flight += 1
        return None

    def end(self, user: str) -> None:
        """Count a fill that has ended."""
        self._uses[user].num_in_flight -= 1

    def may_read_ahead(self, user: str, now: float) -> bool:
        """Count a context to be read in idle time; a user may have as many of these as fills."""
        use = self._use(self._reads, user, now)
        is_left = use.left >= 1
        use.left -= is_left
        return is_left

    def _use(self, uses: dict[str, _Use], user: str, now: float) -> _Use:
        use = uses.setdefault(user, _Use(left=self._limits.burst, counted_at=now))
        gained = (now - use.counted_at) * self._limits.per_minute / 60
        use.left = min(self._limits.burst, use.left + gained)
        use.counted_at = now
        return use
