"""A user who asks for too much is refused, and told when to try again; others are not."""

from intarsia.engine.team.quotas import Busy, Quotas, TeamLimits

LIMITS = TeamLimits(max_in_flight=2, per_minute=60, burst=3, max_waiting=5)


def begin(quotas: Quotas, user: str, now: float, num_waiting: int = 0) -> Busy | None:
    return quotas.begin(user, now, num_waiting=num_waiting)


def test_a_user_has_so_many_fills_in_flight() -> None:
    quotas = Quotas(LIMITS)
    assert begin(quotas, "ann", 0) is None
    assert begin(quotas, "ann", 0) is None
    busy = begin(quotas, "ann", 0)
    assert busy is not None and busy.is_own and "2 of your fills are running" in busy.reason
    assert begin(quotas, "ben", 0) is None
    assert quotas.num_in_flight == 3
    quotas.end("ann")
    assert begin(quotas, "ann", 0) is None


def test_a_user_begins_so_many_fills_a_minute() -> None:
    quotas = Quotas(LIMITS)
    for _ in range(3):
        assert begin(quotas, "ann", 10.0) is None
        quotas.end("ann")
    busy = begin(quotas, "ann", 10.0)
    assert busy is not None and busy.is_own and "60 fills a minute" in busy.reason
    assert begin(quotas, "ann", 10.0 + busy.retry_after_s) is None, "the time that it was told"


def test_a_refused_request_costs_nothing() -> None:
    quotas = Quotas(LIMITS)
    for _ in range(20):
        assert begin(quotas, "ann", 0, num_waiting=5) is not None
    assert quotas.num_in_flight == 0
    assert begin(quotas, "ann", 0) is None


def test_a_long_pause_gives_no_more_than_the_burst() -> None:
    quotas = Quotas(LIMITS)
    begin(quotas, "ann", 0)
    quotas.end("ann")
    taken = 0
    while begin(quotas, "ann", 9_999.0) is None:
        quotas.end("ann")
        taken += 1
    assert taken == LIMITS.burst


def test_a_full_engine_is_nobodys_own_fault() -> None:
    busy = begin(Quotas(LIMITS), "ann", 0, num_waiting=5)
    assert busy is not None and not busy.is_own and busy.retry_after_s >= 1
