-- Places in a buffer, rows and columns from 0, in bytes: the cursor's, and those that the server names.
-- And the text typed since the cursor was somewhere else.

local M = {}

---@class intarsia.Anchor where text was suggested
---@field row integer
---@field col integer
---@field head string the line before it
---@field tail string the line after the cursor
---@field num_lines integer of the buffer

---@return integer row, integer col
function M.position()
  local place = vim.api.nvim_win_get_cursor(0)
  return place[1] - 1, place[2]
end

---Return a key of the text's version and the cursor's position.
---@param buffer integer
---@return string
function M.place(buffer)
  local row, col = M.position()
  return ("%d:%d:%d"):format(vim.api.nvim_buf_get_changedtick(buffer), row, col)
end

---@param buffer integer
---@param row integer
---@return string # empty after the last line
function M.line_at(buffer, row)
  return vim.api.nvim_buf_get_lines(buffer, row, row + 1, false)[1] or ""
end

---Return the place of a position, at most the end of its line.
---@param buffer integer
---@param position lsp.Position of our server
---@return integer row, integer col
function M.of_position(buffer, position)
  local client = assert(require("intarsia.server").client(buffer))
  local line = M.line_at(buffer, position.line)
  return position.line, vim.str_byteindex(line, client.offset_encoding, position.character, false)
end

---Return the anchor at the cursor, or at another column of its line.
---@param buffer integer
---@param col? integer
---@return intarsia.Anchor
function M.anchor(buffer, col)
  local row, cursor_col = M.position()
  local line = M.line_at(buffer, row)
  return {
    row = row,
    col = col or cursor_col,
    head = line:sub(1, col or cursor_col),
    tail = line:sub(cursor_col + 1),
    num_lines = vim.api.nvim_buf_line_count(buffer),
  }
end

---Return the text typed from the anchor to the cursor; nil where anything else has changed.
---@param buffer integer
---@param anchor intarsia.Anchor
---@return string?
function M.typed_since(buffer, anchor)
  local row, col = M.position()
  local num_new = vim.api.nvim_buf_line_count(buffer) - anchor.num_lines
  if row - anchor.row ~= num_new or num_new < 0 or (num_new == 0 and col < anchor.col) then
    return nil
  end
  local is_around_unchanged = vim.startswith(M.line_at(buffer, anchor.row), anchor.head)
    and M.line_at(buffer, row):sub(col + 1) == anchor.tail
  if is_around_unchanged then
    local lines = vim.api.nvim_buf_get_text(buffer, anchor.row, anchor.col, row, col, {})
    return table.concat(lines, "\n")
  end
end

return M
