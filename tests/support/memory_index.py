"""An index in memory over a few files: what the choice of context asks, without a database."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from intarsia.infill.languages import language_for_path
from intarsia.workspace.files.paths import Seen
from intarsia.workspace.index.reader import FoundDefinition, FoundImport, SimilarPassage
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.symbols.symbols import FileSymbols, given_names
from intarsia.workspace.words import identifiers, words_of

PASSAGE_LINES = 24


class MemoryIndex:
    """An ``IndexReader`` of texts by their absolute paths."""

    def __init__(self, texts: Mapping[str, str], roots: Sequence[str]) -> None:
        self._texts = dict(texts)
        self._roots = tuple(roots)
        self._symbols = {
            path: extract_symbols(text, language_for_path(path)) for path, text in texts.items()
        }
        self._stems: dict[str, list[str]] = {}
        for path in texts:
            self._stems.setdefault(PurePosixPath(path).stem, []).append(path)
        self._passages = [
            (path, start, Counter(w for name in identifiers(passage) for w in words_of(name)))
            for path, text in texts.items()
            for start, passage in _passages(text)
        ]
        self._with: dict[str, list[int]] = {}
        for number, (_, _, counts) in enumerate(self._passages):
            for word in counts:
                self._with.setdefault(word, []).append(number)

    def symbols_of(self, path: str) -> FileSymbols | None:
        return self._symbols.get(path)

    def definitions_named(self, name: str, *, limit: int) -> Sequence[FoundDefinition]:
        found = (
            FoundDefinition(path=path, definition=one)
            for path, symbols in self._symbols.items()
            for one in symbols.definitions
            if one.name == name
        )
        return [one for one, _ in zip(found, range(limit), strict=False)]

    def imports_of(self, name: str, *, path: str, limit: int) -> Sequence[FoundImport]:
        root = self.root_of(path)
        found = (
            FoundImport(other, it.module, it.name, it.local, it.kind, it.is_type)
            for other, symbols in self._symbols.items()
            if self.root_of(other) == root
            for it in given_names(symbols)
            if it.first == name
        )
        return [one for one, _ in zip(found, range(limit), strict=False)]

    def files_named(self, name: str) -> Sequence[str]:
        return self._stems.get(name, [])

    def files_with(self, name: str, *, path: str, limit: int) -> Sequence[str]:
        return [path for path, text in self._texts.items() if name in text][:limit]

    def files_in(self, folder: str) -> Sequence[str]:
        inside = folder.rstrip("/")
        return sorted(path for path in self._texts if path.rpartition("/")[0] == inside)

    def root_of(self, path: str) -> str | None:
        return next((root for root in self._roots if path.startswith(root + "/")), None)

    def similar(self, words: Sequence[str], *, path: str, limit: int) -> Sequence[SimilarPassage]:
        """BM25 with its usual constants, over passages of equal length."""
        scores: defaultdict[int, float] = defaultdict(float)
        for word in words:
            holders = self._with.get(word, ())
            idf = math.log(1 + (len(self._passages) - len(holders) + 0.5) / (len(holders) + 0.5))
            for number in holders:
                count = self._passages[number][2][word]
                scores[number] += idf * count * 2.2 / (count + 1.2)
        best = sorted(scores, key=lambda number: (-scores[number], number))
        found = (self._similar(number, scores[number]) for number in best)
        root = self.root_of(path)
        return [it for it in found if it.path != path and self.root_of(it.path) == root][:limit]

    def read(self, path: str) -> str | None:
        return self._texts.get(path)

    def seen(self, path: str) -> tuple[Seen, ...]:
        return ()

    def _similar(self, number: int, score: float) -> SimilarPassage:
        path, start, _ = self._passages[number]
        end = start + PASSAGE_LINES
        return SimilarPassage(path=path, start_line=start, end_line=end, score=score)


def _passages(text: str) -> Iterable[tuple[int, str]]:
    lines = text.split("\n")
    for start in range(0, len(lines), PASSAGE_LINES):
        yield start, "\n".join(lines[start : start + PASSAGE_LINES])
