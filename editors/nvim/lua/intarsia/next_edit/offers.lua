-- The next edits of each buffer: changes that an edit of the user has left to do. They hold for one
-- version of the text. What the user does with one is told to the server.

local renaming = require("intarsia.next_edit.rename")

local M = {}

---@class intarsia.NextEdit a change of whole lines
---@field id string
---@field range lsp.Range
---@field newText string
---@field level "sure"|"balanced"|"bold"
---@field change lsp.TextEdit the least of it that has to be replaced
---@field difference intarsia.Difference

---@class intarsia.Difference what to draw of a next edit
---@field removed lsp.Range[] each within one line
---@field added { position: lsp.Position, text: string }[] after what it replaces
---@field block string[] new lines without an old line of their own; they go below the range

---@class intarsia.NextEditState of one buffer
---@field version? integer of the text that the offers are for
---@field edits intarsia.NextEdit[] in the order of lines
---@field rename? intarsia.Rename
---@field next? lsp.Location where the edit goes on in another document
---@field shown? intarsia.NextEdit
---@field going_on? { place: string, until_ms: number } an offer was accepted there
---@field unmap? fun() removes the keys that apply while an offer is shown
---@field has_rename_key? boolean

---@type table<integer, intarsia.NextEditState?> of the buffers that the server is attached to
M.states = {}

---Take what the server offers.
---@param state intarsia.NextEditState
---@param offered { version: integer, edits: intarsia.NextEdit[], rename?: intarsia.Rename, next?: lsp.Location }
function M.receive(state, offered)
  state.version, state.edits = offered.version, vim.list_slice(offered.edits)
  state.rename, state.next = offered.rename, offered.next
  table.sort(state.edits, function(one, other)
    return one.range.start.line < other.range.start.line
  end)
end

---Whether what is offered holds for the text as it is.
---@param buffer integer
---@return boolean
local function holds(buffer)
  local state = M.states[buffer]
  return state ~= nil
    and state.version == vim.lsp.util.buf_versions[buffer]
    and vim.bo[buffer].modifiable
    and require("intarsia.switch").is_on()
end

---Return what is offered for the text as it is.
---@param buffer integer
---@return intarsia.NextEdit[]
function M.current(buffer)
  return holds(buffer) and M.states[buffer].edits or {}
end

---Return the place in another buffer where the edit goes on, if this one has none left.
---@param buffer integer
---@return lsp.Location?
function M.elsewhere(buffer)
  local next = holds(buffer) and #M.states[buffer].edits == 0 and M.states[buffer].next or nil
  local is_open = next and vim.fn.bufexists(vim.uri_to_fname(next.uri)) == 1
  return is_open and #M.current(vim.uri_to_bufnr(next.uri)) > 0 and next or nil
end

---Return the first offer at the cursor's line or below, else the first one.
---@param edits intarsia.NextEdit[]
---@return intarsia.NextEdit?
function M.next_from_cursor(edits)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  return vim.iter(edits):find(function(edit)
    return edit.range.start.line >= row
  end) or edits[1]
end

---Return the first and the last row of an offer; of an insertion, the one that it goes before.
---@param buffer integer
---@param edit intarsia.NextEdit
---@return integer first, integer last
function M.rows(buffer, edit)
  local first, stop = edit.range.start.line, edit.range["end"]
  local last = stop.character > 0 and stop.line or stop.line - 1
  local most = vim.api.nvim_buf_line_count(buffer) - 1
  return math.min(first, most), math.min(math.max(first, last), most)
end

---Return the offer on show as it is among newer ones.
---@param edits intarsia.NextEdit[]
---@param shown? intarsia.NextEdit
---@return intarsia.NextEdit?
function M.same_among(edits, shown)
  return shown and vim.iter(edits):find(function(edit)
    return edit.id == shown.id
  end)
end

---Return the rename that another language server, or ours, can do everywhere.
---@param buffer integer
---@return intarsia.Rename?
function M.rename_in(buffer)
  local rename = holds(buffer) and M.states[buffer].rename or nil
  return rename and (rename.elsewhere or #renaming.clients(buffer) > 0) and rename or nil
end

---Tell the server that the user dismisses an offer, and forget the offer.
---@param buffer integer
---@param edit intarsia.NextEdit
function M.dismiss(buffer, edit)
  local state, client = M.states[buffer], require("intarsia.server").client(buffer)
  state.edits = vim.tbl_filter(function(other)
    return other.id ~= edit.id
  end, state.edits)
  if client then
    local message = { uri = vim.uri_from_bufnr(buffer), id = edit.id, how = "dismissed" }
    client:notify("intarsia/nextEditDone", message)
  end
end

return M
