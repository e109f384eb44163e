"""Reads a prompt in which a client has put both sides of the hole, with a model's special marks.

    <|repo_name|>shop
    <|file_sep|>cart.py
    …
    <|file_sep|>main.py
    <|fim_prefix|>before<|fim_suffix|>after<|fim_middle|>

Clients know such formats by the model's name, so all common ones are read. Any other prompt is
all prefix.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath

from intarsia.cli.api.holes.request import Context, OtherFile

_MAX_PATH_CHARS = 300


@dataclass(frozen=True, slots=True)
class _Marks:
    """The marks before prefix, suffix and middle. Without one for the middle the prefix is last."""

    prefix: str
    suffix: str
    middle: str


_FORMATS = (
    _Marks("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),  # Qwen, CodeGemma, Granite 4
    _Marks("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),  # StarCoder, StableCode
    _Marks("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),  # DeepSeek-Coder
    _Marks("<PRE> ", " <SUF>", " <MID>"),  # Code Llama
    _Marks("<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"),  # GLM
    _Marks("<[fim-prefix]>", "<[fim-suffix]>", "<[fim-middle]>"),  # Seed-Coder
    _Marks("[PREFIX]", "[SUFFIX]", ""),  # Codestral: suffix first, and no third mark
)

_REPOSITORY = re.compile(r"<\|?(?:repo_name|reponame)\|?>")
_FILE = re.compile(r"<\|?file_sep(?:arator)?\|?>")
# Continue puts this before the file's text, and leaves it there in requests with a suffix.
_PATH_END = "<|system_separator_istruction_repository_level|>"

_FILE_URI = re.compile(r"File uri: (\S+)")  # twinny describes the file in a comment


def read_prompt(prompt: str, suffix: str | None = None) -> Context:
    """Return both sides of the hole, and the other files that the prompt holds.

    With a ``suffix`` the prompt is the text before the hole; other files may still precede it.
    """
    if suffix is not None:
        return _with_files(Context(prefix=prompt, suffix=suffix))
    for marks in _FORMATS:
        found = _split(prompt, marks)
        if found is not None:
            return found
    return _with_files(Context(prefix=prompt, suffix=""))


def _split(prompt: str, marks: _Marks) -> Context | None:
    """Return the context of a prompt in this format, else None."""
    if not prompt.endswith(marks.middle):
        return None
    text = prompt[: len(prompt) - len(marks.middle)]
    before, first, rest = text.partition(marks.prefix)
    if not first:
        return None
    if marks.suffix in rest and marks.middle:
        prefix, _, suffix = rest.partition(marks.suffix)
    elif marks.suffix in before:  # the suffix comes first
        (before, _, suffix), prefix = before.partition(marks.suffix), rest
        if not marks.middle and before.strip() and not before.endswith("\n\n"):
            return None  # code that names these marks
    else:
        return None
    return _after_head(before, Context(prefix=prefix, suffix=suffix))


def _after_head(head: str, context: Context) -> Context:
    """Return the context with the files of ``head``, the text before the first mark."""
    if not _is_head(head):
        text = head.strip("\n")
        return replace(context, files=(OtherFile(path="", text=text),)) if text.strip() else context
    repository, passages = _read_head(head)
    *files, (path, rest) = passages or [("", "")]
    described = _FILE_URI.search(rest)
    if described is not None:
        path = described[1]
    elif rest.strip():  # what follows the last path is a file of its own
        files, path = [*files, (path, rest)], ""
    return replace(context, repository=repository, path=path, files=tuple(_other_files(files)))


def _with_files(context: Context) -> Context:
    """Return the context of a prefix that may begin with other files."""
    if not _is_head(context.prefix):
        return context
    head, mark, prefix = context.prefix.partition(_PATH_END)
    if mark:
        return _after_head(head, replace(context, prefix=prefix))
    repository, passages = _read_head(context.prefix)
    if not passages:
        return context
    *files, (path, prefix) = passages
    others = tuple(_other_files(files))
    return replace(context, prefix=prefix, path=path, repository=repository, files=others)


def _is_head(text: str) -> bool:
    return bool(_REPOSITORY.match(text) or _FILE.match(text))


def _read_head(head: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the repository's name, and path and text of each file in the head."""
    first, *parts = _FILE.split(head)
    repository = " ".join(_REPOSITORY.sub("", first, count=1).split())[:_MAX_PATH_CHARS]
    return repository, [_path_and_text(part) for part in parts]


def _path_and_text(part: str) -> tuple[str, str]:
    """Return path and text. A first line that is no path belongs to the text."""
    line, _, text = part.partition("\n")
    path = line.strip()
    is_path = path != "" and len(path) <= _MAX_PATH_CHARS and " " not in path.strip("./\\")
    return (path, text) if is_path and PurePath(path).name else ("", part)


def _other_files(passages: list[tuple[str, str]]) -> Iterator[OtherFile]:
    for path, text in passages:
        if text.strip():
            yield OtherFile(path=path, text=text)
