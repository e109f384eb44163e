"""Lay out code of other files before a prompt, as the backbone saw repositories in its training.

Qwen2.5-Coder (arXiv 2409.12186): the repository's name, then each file after a mark with its path,
the file with the hole last. A backbone without such marks gets the other files as plain text at the
start of the prefix, each after a comment line with its path.
"""

from collections.abc import Sequence

from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import (
    NO_PROJECT,
    FimTokenizer,
    ProjectIds,
)
from intarsia.engine.families.project_text import (
    chunk_text,
    last_that_fit,
    one_line,
    path_line,
    plain_file,
)
from intarsia.engine.ipc.messages import ContextChunk, ProjectContext


def lay_out_project(
    text: FimTokenizer, project: ProjectContext | None, *, max_tokens: int
) -> ProjectIds:
    """Return other files as ids, empty if no chunk fits into ``max_tokens``.

    The last chunks count most: if not all fit, the first ones are left out.
    """
    if project is None:
        return NO_PROJECT
    files = last_that_fit(
        project.chunks,
        lambda chunk: _file_ids(text, chunk),
        max_tokens=max_tokens - len(_join(text, project, [])),
    )
    return _join(text, project, files) if files else NO_PROJECT


def _file_ids(text: FimTokenizer, chunk: ContextChunk) -> list[int]:
    if text.repository is None:
        return text.encode(plain_file(chunk))
    mark = text.mark_id(text.repository.before_file)
    return [mark, *text.encode(f"{one_line(chunk.path)}\n{chunk_text(chunk)}")]


def _join(
    text: FimTokenizer, project: ProjectContext, files: Sequence[Sequence[int]]
) -> ProjectIds:
    others = [token for ids in files for token in ids]
    marks = text.repository
    if marks is None:
        return ProjectIds(in_prefix=[*others, *text.encode(path_line(project.path))])
    name = text.encode(one_line(project.repository) + marks.after_name)
    own_path = text.encode(one_line(project.path) + "\n")
    before = [text.mark_id(marks.before_name), *name, *others, text.mark_id(marks.before_file)]
    if marks.is_path_in_prefix:
        return ProjectIds(before_mark=before, in_prefix=own_path)
    return ProjectIds(before_mark=[*before, *own_path])
