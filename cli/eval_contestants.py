"""From options to whoever fills the holes."""

from intarsia.cli.eval_options import Asked
from intarsia.cli.faults import CliError
from intarsia.cli.peer_options import PeerName
from intarsia.cli.peers import peer_named
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


def _peer(name: PeerName, asked: Asked) -> list[Contestant]:
    """Return a peer's own text and its text cleaned by us, as two."""
    found = peer_named(name, model=asked.model, llama_server=asked.llama_server)
    return [found.contestant(cleans=False), found.contestant(cleans=True)]
