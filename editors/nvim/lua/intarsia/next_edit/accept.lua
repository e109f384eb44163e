-- Accepts next edits: applies them to the text, and shows the next one, so that one key goes
-- through all.

local cursor = require("intarsia.cursor")
local drawing = require("intarsia.next_edit.drawing")
local offers = require("intarsia.next_edit.offers")
local shown = require("intarsia.next_edit.shown")

local M = {}

local GO_ON_MS = 1000 -- after an accepted offer, the next one is shown if it comes so soon

---Show the next offer after an accepted one, if the user is still there.
---@param buffer integer
function M.go_on(buffer)
  local state = offers.states[buffer]
  local going_on = state.going_on
  if not going_on or vim.api.nvim_get_current_buf() ~= buffer then
    return
  end
  local is_there = going_on.place == cursor.place(buffer) and vim.uv.now() < going_on.until_ms
  local edit = is_there and offers.next_from_cursor(offers.current(buffer))
  if edit or not is_there then
    state.going_on = nil
  end
  if edit then
    shown.show(buffer, edit)
  end
end

---Begin a new step of undo.
local function break_undo()
  vim.cmd("let &g:undolevels = &g:undolevels") -- :help undo-break
end

---Put the lines of an offer in the place of those there now.
---@param buffer integer
---@param edit intarsia.NextEdit
local function replace_lines(buffer, edit)
  local start, stop = edit.range.start, edit.range["end"]
  local lines = vim.split(edit.newText, "\r?\n")
  if lines[#lines] == "" then
    table.remove(lines)
  end
  if start.character > 0 then -- it begins at the end of a last line without line end
    table.remove(lines, 1)
  end
  local first = start.line + math.min(start.character, 1)
  local last = stop.line + math.min(stop.character, 1)
  vim.api.nvim_buf_set_lines(buffer, first, last, false, lines)
end

---Return where the change of an offer ends, once it is applied.
---@param buffer integer
---@param change lsp.TextEdit
---@return integer row, integer col
local function end_of(buffer, change)
  local row, col = cursor.of_position(buffer, change.range.start)
  local lines = vim.split(change.newText:gsub("\r?\n$", ""), "\r?\n")
  return row + #lines - 1, (#lines == 1 and col or 0) + #lines[#lines]
end

---Apply offers as one step of undo; none where the text has changed since.
---@param buffer integer
---@param edits intarsia.NextEdit[]
---@return boolean # whether they were applied
local function apply(buffer, edits)
  local state = offers.states[buffer]
  if state.version ~= vim.lsp.util.buf_versions[buffer] then
    return false
  end
  break_undo()
  local from_below = vim.list_slice(edits)
  table.sort(from_below, function(one, other)
    return one.range.start.line > other.range.start.line
  end)
  for _, edit in ipairs(from_below) do
    replace_lines(buffer, edit)
  end
  break_undo()
  return true
end

---Apply some of the current buffer's offers as one step of undo.
---@param edits intarsia.NextEdit[]
---@return boolean # whether they were applied
function M.accept_chosen(edits)
  local buffer = vim.api.nvim_get_current_buf()
  if #edits == 0 or not offers.states[buffer] then
    return false
  end
  shown.end_shown(buffer)
  drawing.clear(buffer)
  return apply(buffer, edits) -- the server knows by the change what was accepted
end

---Apply an offer, put the cursor at its end, and show the next one.
---@param buffer integer the current one
---@param edit intarsia.NextEdit
function M.accept(buffer, edit)
  if not M.accept_chosen({ edit }) then
    return
  end
  local row, col = end_of(buffer, edit.change)
  vim.api.nvim_win_set_cursor(0, { math.min(row + 1, vim.api.nvim_buf_line_count(buffer)), col })
  local until_ms = vim.uv.now() + GO_ON_MS
  offers.states[buffer].going_on = { place = cursor.place(buffer), until_ms = until_ms }
  M.go_on(buffer)
end

return M
