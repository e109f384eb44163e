"""From a peer's name to the peer: its program, on the file that our model was made from."""

from pathlib import Path

from intarsia.cli.faults import CliError
from intarsia.cli.peer_options import PeerName
from intarsia.engine.default_model.catalog import CATALOG, DEFAULT_MODEL, find_model
from intarsia.evaluation.contestants.peer import Peer


def peer_named(name: PeerName, *, model: str | None, llama_server: Path | None) -> Peer:
    """Return it, not started yet. Raises CliError, EvaluationFault where it cannot be had."""
    if name == "transformers":
        from intarsia.evaluation.contestants.transformers_backbone import transformers_backbone

        gguf, called = _gguf(model)
        return transformers_backbone(gguf, model=called)
    from intarsia.evaluation.contestants.llama_cpp import find_llama_server, llama_cpp

    server = find_llama_server(llama_server)
    gguf, called = _gguf(model)
    return llama_cpp(server, gguf, model=called)


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
