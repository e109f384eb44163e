-- The plugin's colours: default links that a colour scheme or the user can override.

local M = {}

local links = {
  IntarsiaGhostText = "Comment", -- what would be inserted
  IntarsiaUnsure = "NonText", -- tokens that the model is unsure of
  IntarsiaDraft = "NonText", -- tokens of a draft that have not settled
  IntarsiaCount = "NonText", -- (2/3) while cycling
  IntarsiaEdit = "Visual", -- the text that a running edit will replace
  IntarsiaNextEdit = "NonText", -- the mark where a next edit is offered
  IntarsiaNextEditRemoved = "DiffDelete", -- what it would take away
  IntarsiaNextEditAdded = "DiffAdd", -- what it would put there
  IntarsiaProgress = "DiagnosticVirtualTextInfo", -- a running edit's progress
}

function M.define()
  for name, link in pairs(links) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

return M
