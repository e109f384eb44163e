"""Lay out code of other files before a prompt, as the backbone saw repositories in its training.

Qwen2.5-Coder (arXiv 2409.12186): the repository's name, then each file after a mark with its path,
the file with the hole last. A backbone without such marks gets the other files as plain text at the
start of the prefix, each after a comment line with its path.
"""

from intarsia.engine.families.masked_causal.fim_marks import RepositoryMarks
from intarsia.engine.families.masked_causal.fim_tokenizer import (
    NO_PROJECT,
    FimTokenizer,
    ProjectIds,
)
from intarsia.engine.families.project_text import as_plain_text, chunk_text, last_that_fit, one_line
from intarsia.engine.ipc.messages import ContextChunk, ProjectContext


def lay_out_project(
    text: FimTokenizer, project: ProjectContext | None, *, max_tokens: int
) -> ProjectIds:
    """Return other files as ids, empty if no chunk fits into ``max_tokens``.

    The last chunks count most: if not all fit, the first ones are left out.
    """
    if project is None:
        return NO_PROJECT
    if text.repository is None:
        plain = as_plain_text(project, text.encode, max_tokens=max_tokens)
        return ProjectIds(in_prefix=[*plain.files, *plain.own_path])
    return _in_own_format(text, text.repository, project, max_tokens)


def _in_own_format(
    text: FimTokenizer, marks: RepositoryMarks, project: ProjectContext, max_tokens: int
) -> ProjectIds:
    file_mark = text.mark_id(marks.before_file)
    name = text.encode(one_line(project.repository) + marks.after_name)
    before_files = [text.mark_id(marks.before_name), *name]
    own_path = text.encode(one_line(project.path) + "\n")
    num_left = max_tokens - len(before_files) - 1 - len(own_path)

    def encode(chunk: ContextChunk) -> list[int]:
        return [file_mark, *text.encode(f"{one_line(chunk.path)}\n{chunk_text(chunk)}")]

    files = last_that_fit(project.chunks, encode, max_tokens=num_left)
    if not files:
        return NO_PROJECT
    before = [*before_files, *(token for ids in files for token in ids), file_mark]
    if marks.is_path_in_prefix:
        return ProjectIds(before_mark=before, in_prefix=own_path)
    return ProjectIds(before_mark=[*before, *own_path])
