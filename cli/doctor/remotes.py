"""Check the user's remote engines: whether each answers, and can fill holes."""

from intarsia.cli.doctor.finding import Finding
from intarsia.cli.remote import probe
from intarsia.engine.errors import ModelError
from intarsia.engine.remote.settings.remotes import read_remotes


def check_remotes() -> Finding:
    """Ask each remote what it is. A faulty settings file is found here too."""
    try:
        remotes = list(read_remotes().values())
    except ModelError as error:
        what, _, advice = str(error).rpartition(": ")
        return Finding(name="remotes", state="missing", found=what, advice=advice)
    if not remotes:
        return Finding(name="remotes", found="none: all is computed on this machine")
    probes = [probe(remote) for remote in remotes]
    usable = [one for one in probes if one.is_usable]
    named = [f"{one.remote.name} ({one.remote.address.shown})" for one in usable]
    found = f"{len(usable)} of {len(probes)} can fill holes" + "".join(f"; {n}" for n in named)
    problem = next((one.problem for one in probes if one.problem is not None), None)
    if problem is None:
        return Finding(name="remotes", found=found)
    return Finding(name="remotes", state="note", found=found, advice=problem)
