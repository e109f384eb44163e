"""From options to whoever fills the holes."""

from pathlib import Path

from intarsia.cli.eval_options import Asked, Peer
from intarsia.cli.faults import CliError
from intarsia.engine.default_model.catalog import CATALOG, DEFAULT_MODEL, find_model
from intarsia.engine.ipc.messages import SettleMode
from intarsia.evaluation.contestants.contestant import Contestant
from intarsia.evaluation.contestants.direct import Direct
from intarsia.evaluation.contestants.language_server import LanguageServer
from intarsia.filling.options import FillOptions


def contestants_of(asked: Asked) -> list[Contestant]:
    """Return them in order: the first is what the others are compared with."""
    if asked.is_direct and asked.is_invoked:
        raise CliError("--invoked is for the language server: give it without --direct")
    own = [_own(mode, asked) for mode in asked.modes]
    return own + [contestant for peer in asked.peers for contestant in _peer(peer, asked)]


def _own(mode: SettleMode, asked: Asked) -> Contestant:
    options = FillOptions(settle=mode, model=asked.model, num_candidates=asked.num_candidates)
    if asked.is_direct:
        return Direct(options)
    return LanguageServer(options, is_invoked=asked.is_invoked)


def _peer(peer: Peer, asked: Asked) -> list[Contestant]:
    """Return a peer's own text and its text cleaned by us, as two."""
    if peer == "transformers":
        from intarsia.evaluation.contestants.transformers_backbone import transformers_backbone

        gguf, name = _gguf(asked.model)
        found = transformers_backbone(gguf, model=name)
    else:
        from intarsia.evaluation.contestants.llama_cpp import find_llama_server, llama_cpp

        server = find_llama_server(asked.llama_server)
        gguf, name = _gguf(asked.model)
        found = llama_cpp(server, gguf, model=name)
    return [found.contestant(cleans=False), found.contestant(cleans=True)]


def _gguf(model: str | None) -> tuple[Path, str]:
    """Return the file that our engine's model was made from, fetched if it is not there."""
    named = model or DEFAULT_MODEL
    if row := find_model(named):
        from intarsia.cli.console import notices
        from intarsia.cli.load_bar import LoadBar
        from intarsia.engine.default_model.download import fetch

        with LoadBar(notices()) as bar:
            return fetch(row, bar.update), row.name
    if named.endswith(".gguf") and Path(named).is_file():
        return Path(named), Path(named).stem
    names = ", ".join(row.name for row in CATALOG)
    raise CliError(f"peers run GGUF files: give --model a .gguf file or one of {names}")
