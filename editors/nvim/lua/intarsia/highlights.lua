-- The plugin's colours: links that a colour scheme or the user can set otherwise.

local M = {}

local links = {
  IntarsiaGhostText = "Comment", -- what would be inserted
  IntarsiaUnsure = "NonText", -- tokens of it that the model is unsure of
  IntarsiaDraft = "NonText", -- places of a draft that have not settled yet
  IntarsiaCount = "NonText", -- (2/3) while cycling
  IntarsiaEdit = "Visual", -- what an edit that runs will replace
  IntarsiaProgress = "DiagnosticVirtualTextInfo", -- how far it is
}

function M.define()
  for name, link in pairs(links) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

return M
