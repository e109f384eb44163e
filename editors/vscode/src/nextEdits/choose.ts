// Lets the user choose among all offers of a document, before they are applied at once.

import { l10n, type QuickPickItem, window } from "vscode";
import type { NextEdit, Rename } from "../protocol";
import { linesOf } from "./offers";

interface Item extends QuickPickItem {
  edit: NextEdit;
}

/**
 * Return the offers that stay ticked, which all are at first; null: the user has left the list.
 *
 * @param show called with the ticked ones, to show what they would change
 */
export async function choose(
  offers: readonly NextEdit[],
  show: (ticked: readonly NextEdit[]) => void,
): Promise<readonly NextEdit[] | null> {
  const list = window.createQuickPick<Item>();
  list.title = l10n.t("Intarsia: Apply All Next Edits");
  list.placeholder = l10n.t("Enter applies what is ticked, Escape nothing");
  list.canSelectMany = true;
  list.items = offers.map((edit) => ({ label: labelOf(edit), edit }));
  list.selectedItems = list.items;
  show(offers);
  const ticked = () => offers.filter((edit) => list.selectedItems.some((it) => it.edit === edit));
  return new Promise((resolve) => {
    list.onDidChangeSelection(() => show(ticked()));
    list.onDidAccept(() => {
      resolve(ticked());
      list.hide();
    });
    list.onDidHide(() => {
      resolve(null); // without effect after an answer
      list.dispose();
    });
    list.show();
  });
}

/** Return how much is to be renamed in other files. */
export function usesIn({ files, uses }: NonNullable<Rename["elsewhere"]>): string {
  if (files > 1) {
    return l10n.t("{0} uses in {1} other files", uses, files);
  }
  return uses === 1 ? l10n.t("1 use in 1 other file") : l10n.t("{0} uses in 1 other file", uses);
}

/** Return what the user wants: a rename everywhere, the offers, or nothing. */
export async function chooseHow(
  rename: Rename,
  numOffers: number,
): Promise<"rename" | "offers" | null> {
  const { oldName, newName, elsewhere } = rename;
  const offers =
    numOffers === 1
      ? l10n.t("Apply 1 next edit of this file…")
      : l10n.t("Apply {0} next edits of this file…", numOffers);
  const chosen = await window.showQuickPick([
    {
      label: l10n.t("Rename {0} to {1} everywhere", oldName, newName),
      description: elsewhere ? usesIn(elsewhere) : l10n.t("by the language server, in all files"),
      how: "rename" as const,
    },
    { label: offers, how: "offers" as const },
  ]);
  return chosen?.how ?? null;
}

function labelOf({ range, newText }: NextEdit): string {
  const [first = "", ...more] = linesOf(newText);
  const text = newText === "" ? l10n.t("(delete)") : first.trim() + (more.length > 0 ? " …" : "");
  return l10n.t("Line {0}: {1}", range.start.line + 1, text);
}
