"""The windows of each document are held, the newest first, and not without limit."""

from intarsia.infill.canvas.window import Window, window_of
from intarsia.lsp.documents.windows import MAX_DOCUMENTS, MAX_WINDOWS, Windows

TEXT = "".join(f"line {number}\n" for number in range(100))
URI = "file:///a.py"


def window(start: int, suffix: str = "") -> Window:
    return window_of(TEXT, start, start, suffix)


def test_the_newest_is_the_first_and_each_start_is_held_once() -> None:
    windows = Windows()
    for start in (10, 20, 10):
        windows.remember(URI, window(start, suffix=str(start)))
    assert [it.start for it in windows.of(URI)] == [10, 20]
    windows.remember(URI, window(20, suffix="other"))
    assert [it.suffix for it in windows.of(URI)] == ["other", "10"]


def test_documents_do_not_share_windows() -> None:
    windows = Windows()
    windows.remember(URI, window(10))
    assert windows.of("file:///b.py") == ()


def test_the_oldest_are_forgotten() -> None:
    windows = Windows()
    for start in range(MAX_WINDOWS + 3):
        windows.remember(URI, window(start))
    assert [it.start for it in windows.of(URI)] == list(range(MAX_WINDOWS + 2, 2, -1))
    for number in range(MAX_DOCUMENTS):
        windows.remember(f"file:///{number}.py", window(1))
    assert windows.of(URI) == ()
