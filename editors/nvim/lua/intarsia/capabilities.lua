-- The capabilities that this client declares in `initialize`.

local M = {}

---Whether Neovim's own inline completion (0.12) draws the ghost text.
---@return boolean
function M.is_native()
  return require("intarsia.options").current.native and vim.lsp.inline_completion ~= nil
end

---Add the capabilities that decide how the server answers.
---@param capabilities lsp.ClientCapabilities
function M.declare(capabilities)
  local options = require("intarsia.options").current
  -- A client that shows ghost text gets no items in its completion menu, and the other way round.
  capabilities.textDocument.inlineCompletion = not options.completion
      and { dynamicRegistration = false }
    or nil
  local is_drawn_here = not options.completion and not M.is_native()
  capabilities.experimental = vim.tbl_extend("force", capabilities.experimental or {}, {
    intarsia = {
      drafts = is_drawn_here and options.drafts,
      confidence = is_drawn_here,
      status = true,
      nextEdits = true,
    },
  })
end

return M
