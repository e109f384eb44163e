from collections import Counter

from intarsia_research.evaluation.sets.take_turns import take_turns


def drawn(numbers: dict[tuple[str, str], int], languages: str, kinds: str) -> list[str]:
    sources = {place: iter(["".join(place)] * number) for place, number in numbers.items()}
    return list(take_turns(sources, languages, kinds))


def test_languages_take_turns_each_time_with_the_next_kind():
    numbers = {(language, kind): 9 for language in "ab" for kind in "xyz"}
    assert drawn(numbers, "ab", "xyz")[:6] == ["ax", "by", "ay", "bz", "az", "bx"]


def test_every_pair_comes_once_in_a_round_of_them_all():
    for languages in ("a", "ab", "abc", "abcdef", "abcdefghijkl"):
        numbers = {(language, kind): 2 for language in languages for kind in "uvwxyz"}
        found = drawn(numbers, languages, "uvwxyz")
        first = found[: len(found) // 2]
        assert set(Counter(first).values()) == {1}
        assert len(first) == len(numbers)


def test_where_a_language_has_no_more_of_a_kind_it_gives_the_next():
    assert drawn({("a", "x"): 1, ("a", "y"): 3, ("b", "x"): 1}, "ab", "xy") == [
        *("ax", "bx", "ay", "ay", "ay"),
    ]


def test_nothing_gives_nothing():
    assert drawn({("a", "x"): 0}, "a", "x") == []
    assert drawn({}, "", "xy") == []
