-- Decides what is drawn of the next edits of a buffer: marks, a difference, and words on keys.

local offers = require("intarsia.next_edit.offers")
local view = require("intarsia.next_edit.view")

local M = {}

M.RENAME_KEY = "grn" -- Neovim's own for a rename; a key of the offer on show

---Return words about the offer on show, where a key can do more than accept it.
---@param buffer integer
---@return string?
local function hint(buffer)
  local is_normal = vim.api.nvim_get_mode().mode == "n"
  if is_normal and offers.state(buffer).has_rename_key and offers.rename_in(buffer) then
    return M.RENAME_KEY .. " renames everywhere"
  end
end

---Draw what is offered now.
---@param buffer integer
function M.draw(buffer)
  local state, edits = assert(offers.state(buffer)), offers.current(buffer)
  local is_moving = state.version
    and #state.edits > 0
    and not state.is_silent
    and state.version < (vim.lsp.util.buf_versions[buffer] or 0)
  if is_moving and not state.shown then
    return -- Neovim moves the marks, until the server has
  elseif #edits == 0 then
    view.clear(buffer)
    return
  end
  local is_here = vim.api.nvim_get_current_buf() == buffer
  view.draw(buffer, {
    edits = edits,
    shown = state.shown,
    next = is_here and offers.next_from_cursor(edits) or nil,
    words = hint(buffer),
  })
end

return M
