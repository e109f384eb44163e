"""VS Code's own language server for TypeScript knows what may follow a dot."""

from windows import Windows

DEPOT = """export class Depot {
  putAwayForGood(item: string): void {}
  fetchBack(name: string): void {}
}
"""
STORE = """import { Depot } from "./depot";

/** Put the item into the depot. */
export function store(depot: Depot, item: string): void {
  depot║
}
"""
ALONE = {
    "intarsia.projectContext": False,
    "intarsia.showThreshold": 0,
    "editor.suggestOnTriggerCharacters": False,  # a word selected in the menu would be continued
}


def test_a_suggestion_begins_with_a_member_that_it_knows(windows: Windows) -> None:
    window = windows.open(STORE, "store.ts", settings=ALONE, others={"depot.ts": DEPOT})
    window.expect_hover("depot: Depot")  # the language server has read the files
    window.type(".")
    window.expect_ghost_text("putAwayForGood(item);")
