// Lets the user choose among all offers of a document, before they are applied at once.

import { type QuickPickItem, window } from "vscode";
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
  list.title = "Intarsia: Apply All Next Edits";
  list.placeholder = "Enter applies what is ticked, Escape nothing";
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
  const inFiles = files === 1 ? "1 other file" : `${files} other files`;
  return `${uses === 1 ? "1 use" : `${uses} uses`} in ${inFiles}`;
}

/** Return what the user wants: a rename everywhere, the offers, or nothing. */
export async function chooseHow(
  rename: Rename,
  numOffers: number,
): Promise<"rename" | "offers" | null> {
  const { oldName, newName, elsewhere } = rename;
  const offers = numOffers === 1 ? "1 next edit" : `${numOffers} next edits`;
  const chosen = await window.showQuickPick([
    {
      label: `Rename ${oldName} to ${newName} everywhere`,
      description: elsewhere ? usesIn(elsewhere) : "by the language server, in all files",
      how: "rename" as const,
    },
    { label: `Apply ${offers} of this file…`, how: "offers" as const },
  ]);
  return chosen?.how ?? null;
}

function labelOf({ range, newText }: NextEdit): string {
  const [first = "", ...more] = linesOf(newText);
  const text = newText === "" ? "(delete)" : first.trim() + (more.length > 0 ? " …" : "");
  return `Line ${range.start.line + 1}: ${text}`;
}
