"""An editor of a soak: a server process that may be killed and replaced, and its open documents."""

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from editor_clients import ask_inline, connected, vscode
from extended_client import asking_for
from faults.engine_faults import digest_of
from faults.ground import Ground
from lsprotocol import types
from pytest_lsp import LanguageClient
from soak.asks import Asks
from soak.open_text import OpenText

CHECK = "\nchecked = 1\ndigest = "
NO_SUGGESTION = "no suggestion: "
ENCODINGS = ("utf-16", "utf-8", "utf-32")


class SoakClient:
    """Client ``number``; ``texts`` are its open documents, the last one is in front."""

    def __init__(
        self, number: int, ground: Ground, asks: Asks, command: Sequence[str], *, has_rules: bool
    ) -> None:
        self.number = number
        self.texts: list[OpenText] = []
        self.checks: Counter[str] = Counter()
        self.diverged: list[str] = []
        self.is_deaf = False
        self.num_replaced = 0
        self._ground = ground
        self._asks = asks
        self._command = command
        self._has_rules = has_rules  # the engine's model answers with digests
        self._encoding = ENCODINGS[number % len(ENCODINGS)]
        self._process = contextlib.AsyncExitStack()
        self._client: LanguageClient | None = None

    @property
    def client(self) -> LanguageClient:
        assert self._client is not None
        return self._client

    @property
    def pid(self) -> int:
        assert self.client._server is not None
        return int(self.client._server.pid)

    @property
    def has_ended(self) -> bool:
        return self.client._server is None or self.client._server.returncode is not None

    async def start(self, environment: Mapping[str, str]) -> None:
        """Start a server, and open what is open here, as an editor does after a crash."""
        self._client = await self._process.enter_async_context(
            connected(self._ground.address, self._command, environment=environment)
        )
        self.client.log_messages = _ReasonCount(self._asks.reasons)
        for method in ("intarsia/status", "intarsia/draft"):
            self.client.feature(method)(lambda params: None)
        who = asking_for(vscode(), status=True, drafts=True)
        assert who.capabilities.general is not None
        who.capabilities.general.position_encodings = [types.PositionEncodingKind(self._encoding)]
        project = self._ground.project
        who.workspace_folders = [types.WorkspaceFolder(project.as_uri(), project.name)]
        answer = await self.client.initialize_session(who)
        assert answer.capabilities.position_encoding == self._encoding
        for text in self.texts:
            self.client.text_document_did_open(text.opened())

    async def replace(self, environment: Mapping[str, str]) -> None:
        """Start another server after this one has ended."""
        await self._process.aclose()
        self.num_replaced += 1
        await self.start(environment)

    async def end(self) -> None:
        """Shut the server down in good order."""
        await self.client.shutdown_session()
        await self._process.aclose()

    def open(self, name: str, text: str) -> OpenText:
        """Open a document, and put it in front."""
        uri = (self._ground.project / name).as_uri()
        opened = OpenText(uri, text, self._encoding)
        self.texts.append(opened)
        self.client.text_document_did_open(opened.opened())
        return opened

    def change(self, change: types.DidChangeTextDocumentParams | None) -> None:
        """Send a change that was made."""
        if change is not None:
            self.client.text_document_did_change(change)

    async def ask(self, text: OpenText, id: str, *, is_invoked: bool = False) -> Any:
        """Return the first item at the cursor, or None, once the server has answered."""
        at, version = text.position(text.cursor), text.version
        params = ask_inline(text.uri, at.line, at.character, is_invoked=is_invoked)
        answer = await self._answer(types.TEXT_DOCUMENT_INLINE_COMPLETION, params, id)
        if answer is None and version != text.version:
            self._asks.num_replaced += 1
        return answer.items[0] if answer is not None and answer.items else None

    async def check(self, text: OpenText, id: str) -> str:
        """Tell whether the server's text is ours: same, other, or unanswered while an engine fails.

        The line that asks is taken back.
        """
        self.change(text.edit((len(text.text), len(text.text), CHECK)))
        version, expected = text.version, text.text
        is_same = await (self._has_digest(text, id) if self._has_rules else self._is_seen(text, id))
        if text.version == version:
            self.change(text.undo())
        verdict = "unanswered" if is_same is None else "same" if is_same else "other"
        self.checks[verdict] += 1
        if verdict == "other":
            self.diverged.append(f"client {self.number}, {text.uri}: it is not {expected!r}")
        return verdict

    async def _has_digest(self, text: OpenText, id: str) -> bool | None:
        """Ask a rule engine, which answers with the digest of what the server has sent."""
        digest = digest_of(text.text)
        item = await self.ask(text, id, is_invoked=True)
        return None if item is None else str(item.insert_text) == digest

    async def _is_seen(self, text: OpenText, id: str) -> bool | None:
        """Ask the server what a model would see."""
        before, at = text.text.removesuffix("digest = "), text.position(text.cursor)
        place = {"line": at.line, "character": at.character}
        params = types.ExecuteCommandParams(
            "intarsia.context", [{"textDocument": {"uri": text.uri}, "position": place}]
        )
        answer = await self._answer(types.WORKSPACE_EXECUTE_COMMAND, params, id)
        return None if answer is None else before in answer["text"]

    async def _answer(self, method: str, params: Any, id: str) -> Any:
        """Return the server's answer. Raises RuntimeError once that has ended.

        pygls fails the requests that are open then; later ones would wait for ever.
        """
        if self.has_ended:
            raise RuntimeError("the server has ended")
        send = self.client.protocol.send_request_async
        return await self._asks.ask(self.number, send(method, params, msg_id=id))


class _ReasonCount(list[types.LogMessageParams]):
    """A client's log, which keeps no message, as a soak has many: it counts the reasons."""

    def __init__(self, reasons: Counter[str]) -> None:
        super().__init__()
        self._reasons = reasons

    def append(self, message: types.LogMessageParams) -> None:
        if message.message.startswith(NO_SUGGESTION):
            self._reasons[message.message.removeprefix(NO_SUGGESTION)] += 1
