"""The command line with a rule engine that writes 42, and less patience, as ``fault_server``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from faults.fault_server import be_impatient
from rule_engine import rule_engine_command

from intarsia.cli.main import main
from intarsia.engine.ipc import launch

if __name__ == "__main__":
    be_impatient()
    engine = rule_engine_command(text="42")
    launch.LaunchOptions.__init__.__kwdefaults__["command"] = engine
    sys.exit(main())
