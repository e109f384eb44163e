"""``python -P -m intarsia.workspace``: the process of the index, as its client starts it.

With ``parse``, the process that parses for it.
"""

import sys

if __name__ == "__main__":
    if sys.argv[1:] == ["parse"]:
        from intarsia.workspace.index.parser_process import run_parse_worker

        run_parse_worker()
    else:
        from intarsia.workspace.process.child import run_index_process

        run_index_process()
