-- How Neovim (0.11 or newer) runs the language server; found by vim.lsp.enable("intarsia").

---@type vim.lsp.Config
return {
  cmd = { "intarsia", "serve" },
  root_markers = { ".git" },
  -- Says that this client shows ghost text: the server then leaves the completion menu alone.
  capabilities = { textDocument = { inlineCompletion = { dynamicRegistration = false } } },
  -- Options of the server, as in initializationOptions: debounceMs, settle, model, …
  settings = { intarsia = vim.empty_dict() },
}
