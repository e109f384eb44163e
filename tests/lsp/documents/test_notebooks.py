"""Notebooks: a cell is a document, and the other cells are text before and after it."""

from typing import Any

from lsprotocol import types
from open_documents import taken

from intarsia.lsp.documents import MAX_CHARS_AROUND, Documents, Snapshot, TextAround
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.settings import Settings
from intarsia.lsp.snapshots import ineligibility

NOTEBOOK = "file:///work/analysis.ipynb"
CODE, MARKUP = types.NotebookCellKind.Code, types.NotebookCellKind.Markup


def uri(name: object) -> str:
    return f"vscode-notebook-cell:/work/analysis.ipynb#{name}"


def item(name: object, text: str, language: str = "python") -> types.TextDocumentItem:
    return types.TextDocumentItem(uri(name), language, 1, text)


def opened(*cells: types.TextDocumentItem, notebook: str = NOTEBOOK) -> Documents:
    documents = Documents()
    kinds = [MARKUP if cell.language_id == "markdown" else CODE for cell in cells]
    pairs = zip(kinds, cells, strict=True)
    listed = [types.NotebookCell(kind, cell.uri) for kind, cell in pairs]
    documents.open_notebook(
        types.DidOpenNotebookDocumentParams(
            types.NotebookDocument(notebook, "jupyter-notebook", 1, listed), cells
        )
    )
    return documents


def change(documents: Documents, **what: Any) -> None:
    """Change cells; ``what`` are fields of NotebookDocumentCellChanges."""
    identifier = types.VersionedNotebookDocumentIdentifier(uri=NOTEBOOK, version=2)
    event = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(**what))
    documents.change_notebook(types.DidChangeNotebookDocumentParams(identifier, event))


def rearrange(documents, start, num_deleted, *names, **what) -> None:
    """Replace cells by those of these names."""
    cells = [types.NotebookCell(CODE, uri(name)) for name in names]
    array = types.NotebookCellArrayChange(start, num_deleted, cells)
    change(documents, structure=types.NotebookDocumentCellChangeStructure(array, **what))


def close(documents: Documents, *names: object) -> None:
    documents.close_notebook(
        types.DidCloseNotebookDocumentParams(
            types.NotebookDocumentIdentifier(NOTEBOOK),
            [types.TextDocumentIdentifier(uri(name)) for name in names],
        )
    )


def snapshot(documents: Documents, name: int, *place: int, **selected: Any) -> Snapshot:
    session = IntarsiaServer().session
    session.documents = documents
    return taken(session, uri(name), types.Position(*place), **selected)


def test_other_cells_of_the_language_are_prefix_and_suffix() -> None:
    documents = opened(
        item(0, "import math"),
        item(1, "# Areas", "markdown"),
        item(2, "echo hello", "shellscript"),
        item(3, "area = math."),
        item(4, ""),
        item(5, "print(area)"),
    )
    found = snapshot(documents, 3, 0, 12)
    assert found.text == "import math\n\narea = math.\n\nprint(area)"
    assert found.text[: found.offset] == "import math\n\narea = math."


def test_a_position_in_a_cell_goes_there_and_back() -> None:
    documents = opened(item(0, "one\ntwo\n"), item(1, "x = 1\ny = 22\n"))
    found = snapshot(documents, 1, 1, 6)
    place = types.Position(1, 6)
    assert found.range_at_cursor() == types.Range(place, place)
    assert found.range_at_cursor(2) == types.Range(types.Position(1, 4), place)


def test_a_selected_word_counts_as_typed_in_a_cell_too() -> None:
    documents = opened(item(0, "a = 1"), item(1, "pri"), item(2, "b = 2"))
    selected = types.SelectedCompletionInfo(
        types.Range(types.Position(0, 0), types.Position(0, 3)), "print"
    )
    found = snapshot(documents, 1, 0, 3, selected=selected)
    assert found.text == "a = 1\n\nprint\n\nb = 2"
    assert found.text[: found.offset] == "a = 1\n\nprint"


def test_cells_can_be_inserted_moved_edited_and_removed() -> None:
    documents = opened(item(0, "a"), item(1, "b"))
    rearrange(documents, 1, 0, 2, did_open=[item(2, "c")])
    assert documents.text_around(uri(1)) == TextAround(before="a\n\nc\n\n")
    whole = types.TextDocumentContentChangeWholeDocument("C")
    identifier = types.VersionedTextDocumentIdentifier(uri=uri(2), version=2)
    edited = types.NotebookDocumentCellContentChanges(identifier, [whole])
    change(documents, text_content=[edited])
    assert documents.text_around(uri(0)) == TextAround(after="\n\nC\n\nb")
    rearrange(documents, 0, 3, 1, 2, 0)
    assert documents.text_around(uri(2)) == TextAround(before="b\n\n", after="\n\na")
    rearrange(documents, 0, 1, did_close=[types.TextDocumentIdentifier(uri(1))])
    assert documents.current(uri(1)) is None
    assert documents.text_around(uri(2)) == TextAround(after="\n\na")


def test_a_cell_that_became_markup_is_no_code() -> None:
    documents = opened(item(0, "a"), item(1, "b"))
    change(documents, data=[types.NotebookCell(MARKUP, uri(0))])
    assert documents.text_around(uri(1)) == TextAround()


def test_a_closed_notebook_leaves_nothing() -> None:
    documents = opened(item(0, "a"), item(1, "b"))
    close(documents, 0, 1)
    assert documents.current(uri(0)) is None


def test_cells_far_away_are_left_out() -> None:
    long = "x" * (MAX_CHARS_AROUND // 2 + 1)
    documents = opened(item(0, long), item(1, long), item(2, "here"))
    assert documents.text_around(uri(2)) == TextAround(before=long + "\n\n")


def test_a_cell_is_excluded_with_its_notebook() -> None:
    private = opened(item(0, "a = "), notebook="file:///work/secrets/keys.ipynb")
    document = private.current(uri(0))
    assert document is not None
    refusal = ineligibility(Settings(), document)
    assert refusal is not None and "secrets/" in refusal.reason
    public = opened(item(0, "a = ")).current(uri(0))
    assert public is not None and ineligibility(Settings(), public) is None


def test_a_cell_that_was_moved_to_another_notebook_stays_in_it_when_the_first_is_closed() -> None:
    documents = opened(item(0, "a = 1"), item(1, "b = 2"))
    other = "file:///work/other.ipynb"
    cells = [types.NotebookCell(CODE, uri(1)), types.NotebookCell(CODE, uri(9))]
    documents.open_notebook(
        types.DidOpenNotebookDocumentParams(
            types.NotebookDocument(other, "jupyter-notebook", 1, cells),
            [item(1, "b = 2"), item(9, "c = 3")],
        )
    )
    close(documents, 0)
    assert snapshot(documents, 1, 0, 0).text == "b = 2\n\nc = 3"
