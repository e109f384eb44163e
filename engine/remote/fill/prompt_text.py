"""A prompt as text, for servers that take no token ids: only our own marks may act in it.

Such a server reads ``<|fim_middle|>`` in a user's file as the mark itself: the text after it would
count as the model's answer. So a hole near such a text is refused.
"""

import re
from collections.abc import Sequence
from itertools import groupby

from msgspec.structs import replace

from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.ipc.messages import ContextChunk, ProjectContext


class PromptText:
    """Writes prompts of token ids as text."""

    def __init__(self, text: FimTokenizer) -> None:
        self._text = text
        self._marks = text.special_tokens()
        longest_first = sorted(self._marks.values(), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def render(self, ids: Sequence[int], word: str = "") -> str:
        """Return the text that the model's own tokenizer reads as these ids.

        Raises ValueError where text of the user, with the ``word`` that follows, has a mark.
        """
        begin = list(self._text.begin_ids)
        rest = ids[len(begin) :] if list(ids[: len(begin)]) == begin else ids
        parts: list[str] = []
        for is_mark, run in groupby(rest, key=self._marks.__contains__):
            if is_mark:
                parts += [self._marks[token] for token in run]
            else:  # a window may begin or end within a character: that is left out
                parts.append(b"".join(map(self._text.bytes_of, run)).decode("utf-8", "ignore"))
        prompt = "".join(parts)
        wanted = [self._marks[token] for token in rest if token in self._marks]
        self._require_only(wanted, prompt + word)
        return prompt

    def num_marks(self, text: str) -> int:
        """Return how many marks a text has."""
        return len(self._pattern.findall(text))

    def first_mark(self, text: str) -> int | None:
        """Return the offset of the first mark in a text, None without one."""
        found = self._pattern.search(text)
        return None if found is None else found.start()

    def without_marked(self, project: ProjectContext | None) -> ProjectContext | None:
        """Return code of other files without the chunks that have marks in them."""
        if project is None or self.first_mark(project.repository + "\n" + project.path) is not None:
            return None
        return replace(project, chunks=tuple(filter(self._is_plain, project.chunks)))

    def _is_plain(self, chunk: ContextChunk) -> bool:
        return self.first_mark(chunk.path + "\n" + chunk.text) is None

    def _require_only(self, wanted: Sequence[str], prompt: str) -> None:
        found = self._pattern.findall(prompt)
        if found == wanted:
            return
        pairs = zip(found, [*wanted, *[""] * len(found)], strict=False)
        mark = next((own for own, expected in pairs if own != expected), "a mark")
        raise ValueError(
            f"the text around the hole has {mark} in it, which a server that takes text obeys: "
            "use a model of this machine, or a server that takes token ids"
        )
