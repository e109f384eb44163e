-- The next edit whose difference is on show: the cursor goes there, and keys dismiss the offer or
-- rename everywhere until it ends.

local cursor = require("intarsia.cursor")
local drawing = require("intarsia.next_edit.drawing")
local map = require("intarsia.keys").map_for_now
local offers = require("intarsia.next_edit.offers")
local renaming = require("intarsia.next_edit.rename")

local M = {}

---Map the keys that apply while an offer is shown.
---@param buffer integer
local function map_shown(buffer)
  local state = offers.states[buffer]
  local unmap = { map(buffer, "<Esc>", M.dismiss, "dismiss") }
  local unmap_rename = offers.rename_in(buffer)
    and map(buffer, drawing.RENAME_KEY, M.rename_everywhere, "rename everywhere")
  table.insert(unmap, unmap_rename or nil)
  state.has_rename_key = unmap_rename ~= nil
  state.unmap = function()
    for _, act in ipairs(unmap) do
      act()
    end
  end
end

---Map the key that renames everywhere while the cursor is where the name was changed.
---@param buffer integer the current one
function M.map_rename(buffer)
  local state, rename = offers.states[buffer], offers.rename_in(buffer)
  if state.shown then
    return -- the key is the offer's
  end
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local is_here = rename and rename.elsewhere and rename.position.line == row
  if not is_here then
    M.end_shown(buffer)
  elseif not state.unmap then
    state.unmap = map(buffer, drawing.RENAME_KEY, M.rename_everywhere, "rename everywhere")
    state.has_rename_key = state.unmap ~= nil
  end
end

---Go to an offer, and show its difference.
---@param buffer integer the current one
---@param edit intarsia.NextEdit
function M.show(buffer, edit)
  local state = offers.states[buffer]
  local first, last = offers.rows(buffer, edit)
  local row, col = cursor.of_position(buffer, edit.change.range.start)
  vim.cmd("normal! m'") -- CTRL-O leads back
  vim.api.nvim_win_set_cursor(0, row > last and { first + 1, 0 } or { row + 1, col })
  vim.cmd("normal! zv")
  M.end_shown(buffer)
  state.shown = edit
  map_shown(buffer)
  drawing.draw(buffer)
end

---End the offer on show, and its keys. What is drawn stays until it is drawn again.
---@param buffer integer
function M.end_shown(buffer)
  local state = offers.states[buffer]
  state.shown = nil
  if state.unmap then
    state.unmap()
    state.unmap, state.has_rename_key = nil, nil
  end
end

---Dismiss the offer on show: its place stays silent.
---@return boolean # whether there is one
function M.dismiss()
  local buffer = vim.api.nvim_get_current_buf()
  local state = offers.states[buffer]
  local shown = state and offers.same_among(offers.current(buffer), state.shown)
  if not shown then
    return false
  end
  M.end_shown(buffer)
  offers.dismiss(buffer, shown)
  drawing.draw(buffer)
  return true
end

---Have another language server rename everywhere what the last edit began to rename.
---@return boolean # whether there is such a rename
function M.rename_everywhere()
  local buffer = vim.api.nvim_get_current_buf()
  local rename = offers.rename_in(buffer)
  if not rename then
    return false
  end
  M.end_shown(buffer)
  drawing.draw(buffer)
  return renaming.start(buffer, rename)
end

return M
