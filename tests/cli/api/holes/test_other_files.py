"""The other files of a request: the newest that fit the budget, in their order."""

from pathlib import Path

from intarsia.cli.api.holes.other_files import CHARS_PER_TOKEN, to_project
from intarsia.cli.api.holes.request import Context, OtherFile
from intarsia.infill.languages import PLAIN_TEXT, language_for_id


def paths(*files: OtherFile, budget: int = 1000) -> list[str]:
    project = to_project(Context(prefix="", suffix="", files=files), PLAIN_TEXT, budget)
    return [] if project is None else [chunk.path for chunk in project.chunks]


def test_the_end_of_a_path_is_shown_of_whatever_system():
    named = (
        "/home/me/work/shop/src/cart.py",
        "C:\\Users\\me\\shop\\src\\cart.py",
        "file:///home/me/shop/src/cart.py",
        "cart.py",
        "",
    )
    assert paths(*(OtherFile(path=path, text="x") for path in named)) == [
        "shop/src/cart.py",
        "shop/src/cart.py",
        "shop/src/cart.py",
        "cart.py",
        "untitled",
    ]


def test_the_newest_files_are_kept_and_their_order():
    files = [OtherFile(path=f"{name}.py", text="x" * 30 * CHARS_PER_TOKEN) for name in "abcd"]
    assert paths(*files, budget=60) == ["c.py", "d.py"]
    assert paths(*files, budget=10) == []


def test_a_file_that_fits_in_part_gives_its_first_lines():
    lines = "".join(f"line {number}\n" for number in range(100))
    context = Context(
        prefix="", suffix="", files=(OtherFile(path="a.py", text=lines),), path="b.py"
    )
    project = to_project(context, PLAIN_TEXT, 10)
    assert project is not None
    assert (project.path, project.repository) == ("b.py", "untitled")
    assert project.chunks[0].text == "line 0\nline 1\nline 2\nline 3\n"


def test_without_other_files_there_is_nothing_to_read():
    assert to_project(Context(prefix="x", suffix="y", path="a.py"), PLAIN_TEXT, 1000) is None
    assert paths(OtherFile(path="a.py", text="")) == []


def test_a_file_without_a_name_is_named_after_its_language():
    context = Context(prefix="", suffix="", files=(OtherFile(path="a.rs", text="x"),))
    for language, path in ((language_for_id("rust"), "untitled.rs"), (PLAIN_TEXT, "untitled")):
        project = to_project(context, language, 1000)
        assert project is not None
        assert project.path == path


def test_secrets_are_left_out_under_whatever_name(tmp_path: Path):
    link = tmp_path / "notes.py"
    link.symlink_to(tmp_path / ".env")
    named = (".env", "C:\\work\\keys\\a.py", "file:///home/me/.netrc", str(link), link.as_uri())
    files = [OtherFile(path=path, text="TOKEN=hunter2\n") for path in named]
    assert paths(*files, OtherFile(path="credentials.py", text="x")) == ["credentials.py"]
