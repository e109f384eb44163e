"""The query has the rarest words, and stays quick."""

from intarsia.workspace.index.similar_words import (
    MAX_LOOKED_AT,
    MAX_QUERY_WORDS,
    passage_query,
)


def query(words: list[str], counts: dict[str, int], num_passages: int = 10_000) -> list[str]:
    found = passage_query(words, num_passages, lambda word: counts.get(word, 0))
    return [word.strip('"') for word in found.split(" OR ") if word]


def test_rare_words_come_first_and_unknown_ones_are_left_out():
    counts = {"header": 300, "parse": 900, "cookie": 2}
    assert query(["parseHeader", "cookie", "unheard"], counts) == ["cookie", "header", "parse"]


def test_a_word_that_many_passages_have_is_left_out_unless_there_are_few_passages():
    assert query(["cookie", "everywhere"], {"cookie": 2, "everywhere": 1_001}) == ["cookie"]
    assert query(["everywhere"], {"everywhere": 40}, num_passages=40) == ["everywhere"]


def test_the_passages_to_look_at_are_bounded():
    counts = {f"word{letter}": MAX_LOOKED_AT // 3 for letter in "abcdefgh"}
    assert len(query(list(counts), counts, num_passages=10**6)) == 3


def test_the_number_of_words_is_bounded():
    names = [f"{one}{other}long" for one in "bcdefgh" for other in "bcdefgh"]
    assert len(query(names, dict.fromkeys(names, 1))) == MAX_QUERY_WORDS


def test_what_is_no_word_gives_no_query():
    assert query(["", '"', "OR", "\0", "*", "if"], {}) == []
