// The commands of code actions: one for each action that can be offered at once.

const MAX_OFFERED = 8;

export const RUN_COMMANDS = Array.from(
  { length: MAX_OFFERED },
  (_, index) => `intarsia.runCodeAction${String(index)}`,
);
