"""A rule engine of another build: ``python skewed_engine.py SKEW FLAGS…``.

``SKEW`` is JSON: ``protocol`` is added to ours, ``version`` is the package's, and the file
``sources`` holds the digest of the installed sources: who changes it upgrades them.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))


def skewed_engine_command(
    sources: Path, *, protocol: int = 0, version: str = "0.1.0", **options: object
) -> tuple[str, ...]:
    """Return the command of such an engine; options as for ``rule_engine_command``."""
    from rule_engine import rule_engine_command

    skew = json.dumps({"protocol": protocol, "version": version, "sources": str(sources)})
    python, _, *flags = rule_engine_command(**options)
    return (python, __file__, skew, *flags)


def main() -> int:
    skew = json.loads(sys.argv.pop(1))
    from intarsia.engine.ipc import messages

    messages.PROTOCOL_VERSION += skew["protocol"]
    from intarsia.engine.ipc import handshake

    handshake._package_version = lambda: skew["version"]
    handshake._source_digest = lambda: Path(skew["sources"]).read_text()
    import rule_engine

    return rule_engine.main()


if __name__ == "__main__":
    sys.exit(main())
