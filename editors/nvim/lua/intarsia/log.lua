-- The server's log messages of this session, kept for :Intarsia log.

local M = {}

local MAX_MESSAGES = 1000
local KINDS = { "ERROR", "WARN", "INFO", "LOG", "DEBUG" } -- MessageType
local messages = {} ---@type string[]

---@param message { type: integer, message: string }
function M.keep(message)
  local kind = KINDS[message.type] or "LOG"
  local text = message.message:gsub("\n", " ")
  table.insert(messages, ("%s %-5s %s"):format(os.date("%H:%M:%S"), kind, text))
  if #messages > MAX_MESSAGES then
    table.remove(messages, 1)
  end
end

---@return string[]
function M.messages()
  return messages
end

---Show the messages in a window of their own; `q` closes it.
function M.show()
  local buffer = vim.api.nvim_create_buf(false, true)
  local lines = { "Errors of Neovim's side: " .. vim.lsp.log.get_filename(), "" }
  vim.list_extend(lines, #messages > 0 and messages or { "The server has said nothing yet." })
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].filetype = "intarsialog"
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buffer, desc = "intarsia: close" })
  vim.api.nvim_open_win(buffer, true, { split = "below", height = 12 })
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(buffer), 0 })
end

return M
