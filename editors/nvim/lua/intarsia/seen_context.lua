-- Shows what the model would see at the cursor, in a scratch window.

local M = {}

local COMMAND = "intarsia.context"
local NAME = "intarsia://context"

---@param message string
local function warn(message)
  vim.notify("intarsia: " .. message, vim.log.levels.WARN)
end

---@return integer # the scratch buffer, which is made once
local function buffer()
  local found = vim.fn.bufnr(NAME)
  if found ~= -1 then
    return found
  end
  local new = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(new, NAME)
  return new
end

---@param text string
local function open(text)
  local shown = buffer()
  vim.bo[shown].modifiable = true
  vim.api.nvim_buf_set_lines(shown, 0, -1, false, vim.split(text, "\n", { plain = true }))
  vim.bo[shown].modifiable = false
  if vim.fn.bufwinid(shown) == -1 then
    local window = vim.api.nvim_open_win(shown, false, { split = "right", win = 0 })
    vim.wo[window].linebreak = true
  end
end

---Request what the model sees at the cursor of the current window, and show it.
function M.show()
  local client = require("intarsia.server").client(vim.api.nvim_get_current_buf())
  if not client then
    return warn("the server is not attached to this buffer (see :checkhealth intarsia)")
  end
  local place = vim.lsp.util.make_position_params(0, client.offset_encoding)
  local params = { command = COMMAND, arguments = { place } }
  client:request("workspace/executeCommand", params, function(problem, seen)
    if problem then
      return warn(problem.message)
    end
    open(seen.text)
  end)
end

return M
