// Follows where a name is in a text that changes, so that it can be replaced there later.

/** A range of a text, in UTF-16 units; `end` is exclusive. */
export interface Place {
  start: number;
  end: number;
}

/** A change of a text, as VS Code tells it: all changes of one event are ranges of the old text. */
export interface Change {
  rangeOffset: number;
  rangeLength: number;
  text: string;
}

export class KeptNames {
  private kept: readonly Place[];

  constructor(places: readonly Place[]) {
    this.kept = places;
  }

  /** The names that nothing has changed, in the order that they were given. */
  get places(): readonly Place[] {
    return this.kept;
  }

  /** Take the changes of one event: names move with the text, and end where they are changed. */
  change(changes: readonly Change[]): void {
    this.kept = this.kept.flatMap(({ start, end }) => {
      let shift = 0;
      for (const { rangeOffset, rangeLength, text } of changes) {
        if (rangeOffset + rangeLength <= start) {
          shift += text.length - rangeLength;
        } else if (rangeOffset < end) {
          return [];
        }
      }
      return [{ start: start + shift, end: end + shift }];
    });
  }
}

/** Return where the new name's places are once the old name is in them, in a text that changes. */
export function placesAfter(places: readonly Place[], oldName: string): Place[] {
  let shift = 0;
  return [...places]
    .sort((one, other) => one.start - other.start)
    .map(({ start, end }) => {
      const place = { start: start + shift, end: start + shift + oldName.length };
      shift += oldName.length - (end - start);
      return place;
    });
}
