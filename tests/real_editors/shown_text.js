// Runs in VS Code's page: reads ghost text and drafts from what is drawn, and keeps their history.
// Entries: {at: ms since the page began, ghost, draft}; one whenever either has changed.
// textAt: when the first line of a file was drawn.

(() => {
  const plain = (text) => text.replaceAll("\u00a0", " ");
  const joined = (elements) => [...elements].map((element) => element.textContent).join("");

  function ghost() {
    const inline = joined(document.querySelectorAll(".view-lines .ghost-text-decoration"));
    const below = [...document.querySelectorAll(".suggest-preview-text .view-line")];
    const lines = below.map((line) => joined(line.querySelectorAll(".ghost-text")));
    return plain([inline, ...lines].join("\n"));
  }

  function drawnContent(element, pseudo) {
    const content = getComputedStyle(element, pseudo).content;
    return content.startsWith('"') ? content.slice(1, -1).replace(/\\(.)/g, "$1") : "";
  }

  function draft() {
    const drawn = [...document.querySelectorAll('.view-lines [class*="ced-"]')];
    const parts = drawn.flatMap((at) => [drawnContent(at, "::before"), drawnContent(at, "::after")]);
    return plain(parts.join(""));
  }

  const history = [];
  const keys = [];

  function look() {
    if (window.intarsia.textAt === null && document.querySelector(".view-line")?.textContent) {
      window.intarsia.textAt = performance.now();
    }
    const last = history.at(-1) ?? { ghost: "", draft: "" };
    const now = { at: performance.now(), ghost: ghost(), draft: draft() };
    if (now.ghost !== last.ghost || now.draft !== last.draft) {
      history.push(now);
    }
  }

  window.intarsia = { ghost, draft, history, keys, textAt: null };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
  window.addEventListener("keydown", () => keys.push(performance.now()), { capture: true });
})();
