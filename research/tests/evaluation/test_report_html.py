"""The page: what stands on it, and that no text of a case becomes part of it."""

from html.parser import HTMLParser

from judged_rows import exact, failure, row, run_of

from intarsia_research.evaluation.figures import figures_of
from intarsia_research.evaluation.record import Row
from intarsia_research.evaluation.report_html import CHARS_SHOWN, page

NASTY = "</script><script>alert('1')</script><img src=x onerror=alert(2)>&amp;\"'"


class Read(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(*rows: Row) -> Read:
    run = run_of(*rows)
    return Read(page(run, figures_of(run.rows)))


def test_code_is_shown_as_it_is_and_never_run():
    found = read(
        row("1", before=NASTY, after=NASTY, truth=NASTY, text=NASTY),
        row("2", NASTY),
        failure("3", reason=NASTY),
        row(NASTY, kind=NASTY, language=NASTY, set=NASTY),
    )
    tags = [tag for tag, _ in found.tags]
    assert tags.count("script") == 1
    assert "img" not in tags
    assert sum(NASTY in text for text in found.texts) >= 8
    assert not [name for _, attributes in found.tags for name in attributes if name[:2] == "on"]


def test_nothing_is_fetched():
    found = read(row("1"), exact("2"))
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in found.tags}
    for _, attributes in found.tags:
        assert not {"src", "href", "action"} & set(attributes)
    policy = dict(found.tags)["meta"]
    assert policy["http-equiv"] == "Content-Security-Policy"
    assert str(policy["content"]).startswith("default-src 'none'")


def test_the_figures_and_the_cases_stand_on_it():
    text = "".join(
        read(
            exact("right one", passed=True),
            row("wrong one", text="x = 7", passed=False, parses=False, duplicates_suffix=True),
            row("wrong one", "entropy", text="x = 8"),
            row("third", set="other", language="go", kind="block"),
        ).texts
    )
    for words in (
        *(
            "toy, 2 holes",
            "other, 1 holes",
            "all sets, 3 holes",
            "50.0 %",
            "speculative",
            "entropy",
        ),
        *("right one", "wrong one", "x = 7", "x = 8", "breaks the file", "repeats what follows"),
        *("passes its test", "fails its test", "By kind of hole", "By language", "a toy"),
    ):
        assert words in text, words


def test_of_a_long_text_the_nearest_lines_are_shown():
    before = "".join(f"line {number}\n" for number in range(100))
    found = read(row("1", before=before, after="\n" + before, text="y" * (CHARS_SHOWN + 50)))
    text = "".join(found.texts)
    assert "line 99" in text and "line 50\n" not in text
    assert "50 more characters" in text


def test_a_run_without_rows_is_a_page_too():
    assert "eval" in "".join(read().texts)
