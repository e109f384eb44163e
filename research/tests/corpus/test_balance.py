"""No language and no package drowns the others."""

from collections import Counter

from corpus_files import corpus_file

from intarsia_research.corpus.balance import balanced


def files(language: str, num_files: int, num_bytes: int = 1_000):
    return [
        corpus_file(f"{language} {n}".ljust(num_bytes), path=f"{language}/{n}", language=language)
        for n in range(num_files)
    ]


def bytes_by_language(kept) -> Counter:
    sizes: Counter = Counter()
    for file in kept:
        sizes[file.language] += file.num_bytes
    return sizes


def test_python_is_at_most_two_fifths_of_what_there_is():
    kept = balanced(
        files("python", 100) + files("go", 20) + files("c", 10), max_bytes=10**9, seed=1
    )
    sizes = bytes_by_language(kept)
    assert sizes == {"python": 20_000, "go": 20_000, "c": 10_000}


def test_every_other_language_has_its_limit_too():
    kept = balanced(
        files("python", 100) + files("go", 100) + files("c", 5), max_bytes=100_000, seed=1
    )
    sizes = bytes_by_language(kept)
    assert sizes["go"] == 12_000
    assert sizes["c"] == 5_000
    assert sum(sizes.values()) <= 100_000


def test_a_language_alone_has_all():
    assert len(balanced(files("python", 100), max_bytes=50_000, seed=1)) == 50
    assert balanced([], max_bytes=50_000, seed=1) == []


def test_the_seed_decides_which_files_stay_and_their_order_does_not():
    all_files = files("go", 50)
    kept = balanced(all_files, max_bytes=10_000, seed=1)
    assert kept == balanced(all_files[::-1], max_bytes=10_000, seed=1)
    assert kept != balanced(all_files, max_bytes=10_000, seed=2)
