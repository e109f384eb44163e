-- Decides what is drawn of the next edits of a buffer: marks, a difference, and words on keys.

local offers = require("intarsia.next_edit.offers")
local view = require("intarsia.next_edit.view")

local M = {}

M.RENAME_KEY = "grn" -- Neovim's own for a rename; a key of the offer on show

---Return words about a rename everywhere, where a key or the command does it.
---@param buffer integer
---@return string? words
---@return integer? row of the changed name, where they go while no offer is on show
local function hint(buffer)
  local state, rename = offers.state(buffer), offers.rename_in(buffer)
  local has_key = vim.api.nvim_get_mode().mode == "n" and state.has_rename_key
  local elsewhere = rename and rename.elsewhere
  if not rename or state.shown and not has_key or not state.shown and not elsewhere then
    return nil
  end
  local words = (has_key and M.RENAME_KEY or ":Intarsia nextedit rename") .. " renames everywhere"
  if elsewhere then
    local uses = elsewhere.uses == 1 and "1 use" or elsewhere.uses .. " uses"
    local files = elsewhere.files == 1 and "1 other file" or elsewhere.files .. " other files"
    words = ("%s, %s in %s"):format(words, uses, files)
  end
  return words, rename.position.line
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
  end
  local words, row = hint(buffer)
  if #edits == 0 and not words then
    view.clear(buffer)
    return
  end
  local is_here = vim.api.nvim_get_current_buf() == buffer
  view.draw(buffer, {
    edits = edits,
    shown = state.shown,
    next = is_here and offers.next_from_cursor(edits) or nil,
    words = words,
    row = row,
  })
end

return M
