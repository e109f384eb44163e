// Text that VS Code shows as it is.

/** Break the links in a message: VS Code would run `[text](command:…)` at a click. */
export function plainText(message: string): string {
  return message.replaceAll("](", "] (");
}
