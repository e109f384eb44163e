"""The requests of a typing user: one text grows, and what follows it stays."""

from intarsia_research.team_load.typed_files import TypedFiles
from intarsia_research.team_load.typing_users import Ask


def ask(num_typed: int, *, user: int = 0, place: int = 0) -> Ask:
    return Ask(at_s=0, user=user, place=place, num_typed=num_typed, is_halt=True)


def test_the_text_around_what_is_typed_stays() -> None:
    files = TypedFiles()
    requests = [it for it in map(files.request, map(ask, range(0, 300, 7))) if it is not None]
    texts = [request.prefix + request.given for request in requests]
    assert len(texts) > 20
    assert {request.suffix for request in requests} == {requests[0].suffix}
    assert all(text[:1_000] == texts[0][:1_000] for text in texts)


def test_each_place_and_each_user_has_a_text_of_its_own() -> None:
    files = TypedFiles()
    asks = [ask(9), ask(9, place=1), ask(9, place=2), ask(9, user=1), ask(9, user=2)]
    found = {request.prefix for it in asks if (request := files.request(it)) is not None}
    assert len(found) >= 3
    assert found == {it.prefix for a in asks if (it := TypedFiles().request(a)) is not None}
