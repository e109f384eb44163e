-- The keys' actions where Neovim's own inline completion (0.12) draws the ghost text.

local M = {}

---@return boolean
function M.accept()
  return vim.lsp.inline_completion.get()
end

---@param step 1|-1
---@return boolean
function M.cycle(step)
  vim.lsp.inline_completion.select({ count = step })
  return true
end

return M
