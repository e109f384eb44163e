-- Starts the server for every file and shows its suggestions as ghost text.

local ghost_text = require("intarsia.ghost_text")

local M = {}

---@class intarsia.Keys
---@field accept string takes the ghost text over
---@field next string shows the next suggestion; the first time it asks for several

---@class intarsia.Options
---@field cmd? string[] command of the server
---@field settings? table options of the server
---@field keys? intarsia.Keys

---@type intarsia.Keys
local default_keys = { accept = "<M-l>", next = "<M-]>" }

---Press the key itself where there is nothing to do for it.
---@param key string
---@param act fun(): boolean
local function map(key, act)
  vim.keymap.set("i", key, function()
    if not act() then
      vim.api.nvim_feedkeys(vim.keycode(key), "n", false)
    end
  end, { desc = "intarsia" })
end

---@param options? intarsia.Options
function M.setup(options)
  options = options or {}
  vim.lsp.config("intarsia", {
    cmd = options.cmd,
    settings = options.settings and { intarsia = options.settings },
  })
  vim.api.nvim_set_hl(0, "IntarsiaGhostText", { link = "NonText", default = true })

  local keys = vim.tbl_extend("force", default_keys, options.keys or {})
  map(keys.accept, ghost_text.accept)
  map(keys.next, ghost_text.next)

  vim.api.nvim_create_autocmd("LspAttach", {
    group = vim.api.nvim_create_augroup("intarsia", {}),
    callback = function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      if client and client.name == "intarsia" then
        ghost_text.attach(event.buf)
      end
    end,
  })
  vim.lsp.enable("intarsia")
end

return M
