"""A link to a secret is a secret, by whatever name it is opened."""

from pathlib import Path

import pytest

from intarsia.lsp.documents.documents import Document
from intarsia.lsp.documents.may_suggest import ineligibility
from intarsia.lsp.settings import Settings


def opened(uri: str) -> Document:
    return Document(
        uri=uri,
        language_id="python",
        version=1,
        encoding="utf-16",
        text="",
        line_starts=(0,),
    )


@pytest.fixture
def link(tmp_path: Path) -> Path:
    (tmp_path / ".npmrc").write_text("//registry/:_authToken=hunter2\n")
    link = tmp_path / "notes.py"
    link.symlink_to(tmp_path / ".npmrc")
    return link


def test_a_document_that_links_to_a_secret_is_excluded(link: Path) -> None:
    refusal = ineligibility(Settings(), opened(link.as_uri()))
    assert refusal is not None
    assert refusal.reason == "notes.py is excluded by the pattern '.npmrc'"
    assert ineligibility(Settings(exclude_secrets=False), opened(link.as_uri())) is None


def test_the_users_own_patterns_hold_for_what_is_linked_to(link: Path) -> None:
    settings = Settings(exclude_secrets=False, exclude=("*.npmrc",))
    assert ineligibility(settings, opened(link.as_uri())) is not None


def test_a_document_that_is_not_on_this_disk_is_judged_by_its_name(link: Path) -> None:
    new = f"untitled:{link}"
    assert ineligibility(Settings(), opened(new)) is None
    assert ineligibility(Settings(), opened(f"untitled:{link.parent}/.npmrc")) is not None
