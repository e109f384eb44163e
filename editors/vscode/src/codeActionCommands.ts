// The commands that code actions get, one for each that can be on offer at a place.

const MAX_OFFERED = 8;

export const RUN_COMMANDS = Array.from(
  { length: MAX_OFFERED },
  (_, index) => `intarsia.runCodeAction${String(index)}`,
);
