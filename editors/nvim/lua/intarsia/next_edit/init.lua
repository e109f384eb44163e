-- Next edits: what an edit of the user has left to change is marked, shown, accepted or dismissed.

local places = require("intarsia.next_edit.place")
local renaming = require("intarsia.next_edit.rename")
local view = require("intarsia.next_edit.view")

local M = {}

local RENAME_KEY = "grn" -- Neovim's own for a rename
local GO_ON_MS = 1000 -- after an accepted offer, the next one is shown if it comes so soon

---@class intarsia.NextEdit a change of whole lines
---@field id string
---@field range lsp.Range
---@field newText string
---@field level "sure"|"balanced"|"bold"

---@class intarsia.NextEditState of one buffer
---@field version? integer of the text that the offers are for
---@field edits intarsia.NextEdit[] in the order of lines
---@field rename? intarsia.Rename
---@field shown? intarsia.NextEdit
---@field newest_change integer the number of the newest change
---@field last_change integer the number of the change that the text has reached
---@field is_silent boolean nothing is offered: the last change was undo or redo
---@field going_on? { place: string, until_ms: number } an offer was accepted there
---@field unmap? fun() removes the keys that apply while an offer is shown
---@field has_rename_key? boolean

---@type table<integer, intarsia.NextEditState>
local states = {}

---Return what is offered for the text as it is.
---@param buffer integer
---@return intarsia.NextEdit[]
local function current(buffer)
  local state = states[buffer]
  local holds = state
    and not state.is_silent
    and state.version == vim.lsp.util.buf_versions[buffer]
    and vim.bo[buffer].modifiable
    and require("intarsia.switch").is_on()
  return holds and state.edits or {}
end

---Whether something else has precedence: ghost text, a menu, a snippet, a macro.
---@return boolean
local function is_busy()
  return vim.fn.pumvisible() == 1
    or (vim.snippet ~= nil and vim.snippet.active())
    or vim.fn.reg_recording() ~= ""
    or vim.fn.reg_executing() ~= ""
    or require("intarsia").is_shown()
end

---Return the first offer at the cursor's line or below, else the first one.
---@param edits intarsia.NextEdit[]
---@return intarsia.NextEdit?
local function next_from_cursor(edits)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  return vim.iter(edits):find(function(edit)
    return edit.range.start.line >= row
  end) or edits[1]
end

---Return the same change among newer offers: it may have another id there.
---@param edits intarsia.NextEdit[]
---@param shown? intarsia.NextEdit
---@return intarsia.NextEdit?
local function same_among(edits, shown)
  return shown
    and vim.iter(edits):find(function(edit)
      return edit.newText == shown.newText and vim.deep_equal(edit.range, shown.range)
    end)
end

---Map a key in normal mode, unless the buffer has a mapping of its own.
---@param buffer integer
---@param key string
---@param act fun()
---@param desc string
---@return fun()? # removes the mapping
local function map(buffer, key, act, desc)
  local earlier = vim.api.nvim_buf_call(buffer, function()
    return vim.fn.maparg(key, "n", false, true)
  end)
  if not require("intarsia.options").current.keys or earlier.buffer == 1 then
    return nil
  end
  vim.keymap.set("n", key, act, { buffer = buffer, desc = "intarsia: " .. desc })
  return function()
    pcall(vim.keymap.del, "n", key, { buffer = buffer })
  end
end

---Return the rename that another language server can do in the place of the offers.
---@param buffer integer
---@return intarsia.Rename?
local function rename_in(buffer)
  local is_possible = #current(buffer) > 0 and #renaming.clients(buffer) > 0
  return is_possible and states[buffer].rename or nil
end

---Map the keys that apply while an offer is shown.
---@param buffer integer
local function map_shown(buffer)
  local state = states[buffer]
  local unmap = { map(buffer, "<Esc>", M.dismiss, "dismiss") }
  local unmap_rename = rename_in(buffer)
    and map(buffer, RENAME_KEY, M.rename_everywhere, "rename everywhere")
  table.insert(unmap, unmap_rename or nil)
  state.has_rename_key = unmap_rename ~= nil
  state.unmap = function()
    for _, act in ipairs(unmap) do
      act()
    end
  end
end

---@param buffer integer
local function end_shown(buffer)
  local state = states[buffer]
  state.shown = nil
  if state.unmap then
    state.unmap()
    state.unmap, state.has_rename_key = nil, nil
  end
end

---Return words about the offer on show, where a key can do more than accept it.
---@param buffer integer
---@return string?
local function hint(buffer)
  local is_normal = vim.api.nvim_get_mode().mode == "n"
  if is_normal and states[buffer].has_rename_key and rename_in(buffer) then
    return RENAME_KEY .. " renames everywhere"
  end
end

---Draw what is offered now.
---@param buffer integer
local function draw(buffer)
  local state, edits = states[buffer], current(buffer)
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
    next = is_here and next_from_cursor(edits) or nil,
    words = hint(buffer),
  })
end

---@param buffer integer
---@param edit intarsia.NextEdit
local function show(buffer, edit)
  local state = states[buffer]
  local row, col = places.start_of(places.of(buffer, edit))
  vim.cmd("normal! m'") -- CTRL-O leads back
  vim.api.nvim_win_set_cursor(0, { math.min(row, vim.api.nvim_buf_line_count(buffer) - 1) + 1, col })
  vim.cmd("normal! zv")
  end_shown(buffer)
  state.shown = edit
  map_shown(buffer)
  draw(buffer)
end

---Tell the server what the user has done with an offer, and forget the offer.
---@param buffer integer
---@param edit intarsia.NextEdit
---@param how "accepted"|"dismissed"
local function done(buffer, edit, how)
  local state, client = states[buffer], require("intarsia.server").client(buffer)
  state.edits = vim.tbl_filter(function(other)
    return other.id ~= edit.id
  end, state.edits)
  if client then
    local message = { uri = vim.uri_from_bufnr(buffer), id = edit.id, how = how }
    client:notify("intarsia/nextEditDone", message)
  end
end

---Show the next offer after an accepted one, if the user is still there.
---@param buffer integer
local function go_on(buffer)
  local state = states[buffer]
  local going_on = state.going_on
  if not going_on or vim.api.nvim_get_current_buf() ~= buffer then
    return
  end
  local is_there = going_on.place == require("intarsia.cursor").place(buffer)
    and vim.uv.now() < going_on.until_ms
  local edit = is_there and next_from_cursor(current(buffer))
  if edit or not is_there then
    state.going_on = nil
  end
  if edit then
    show(buffer, edit)
  end
end

---Begin a new step of undo.
local function break_undo()
  vim.cmd("let &g:undolevels = &g:undolevels") -- :help undo-break
end

---Apply offers as one step of undo; none where the text has changed since.
---@param buffer integer
---@param edits intarsia.NextEdit[]
---@return boolean # whether they were applied
local function apply(buffer, edits)
  local state = states[buffer]
  if state.version ~= vim.lsp.util.buf_versions[buffer] then
    return false
  end
  break_undo()
  local from_below = vim.list_slice(edits)
  table.sort(from_below, function(one, other)
    return one.range.start.line > other.range.start.line
  end)
  for _, edit in ipairs(from_below) do
    local place = places.of(buffer, edit)
    vim.api.nvim_buf_set_lines(buffer, place.first, place.last, false, place.after)
  end
  break_undo()
  state.last_change = vim.fn.changenr()
  state.newest_change = math.max(state.last_change, state.newest_change)
  return true
end

---@param buffer integer
---@param edit intarsia.NextEdit
local function accept(buffer, edit)
  local state, place = states[buffer], places.of(buffer, edit)
  end_shown(buffer)
  view.clear(buffer)
  if not apply(buffer, { edit }) then
    return
  end
  local row, col = places.end_of(place)
  vim.api.nvim_win_set_cursor(0, { math.min(row + 1, vim.api.nvim_buf_line_count(buffer)), col })
  done(buffer, edit, "accepted")
  local now = require("intarsia.cursor").place(buffer)
  state.going_on = { place = now, until_ms = vim.uv.now() + GO_ON_MS }
  go_on(buffer)
end

---Take what the server offers in a document.
---@param offered { uri: string, version: integer, edits: intarsia.NextEdit[], rename?: intarsia.Rename }
function M.receive(offered)
  local buffer = vim.uri_to_bufnr(offered.uri)
  local state = states[buffer]
  if not state then
    return
  end
  state.version, state.edits = offered.version, vim.list_slice(offered.edits)
  state.rename = offered.rename
  table.sort(state.edits, function(one, other)
    return one.range.start.line < other.range.start.line
  end)
  local shown = same_among(current(buffer), state.shown)
  if shown then
    state.shown = shown
  else
    end_shown(buffer)
  end
  go_on(buffer)
  draw(buffer)
end

---Return the offers of the current buffer, in the order of lines.
---@return intarsia.NextEdit[]
function M.offers()
  return current(vim.api.nvim_get_current_buf())
end

---Whether the difference of an offer is on show.
---@param buffer integer
---@return boolean
function M.is_shown(buffer)
  return states[buffer] ~= nil and states[buffer].shown ~= nil
end

---Show the next offer, or accept the one on show.
---@return boolean # whether there is one
function M.next()
  local buffer = vim.api.nvim_get_current_buf()
  local edits = current(buffer)
  if #edits == 0 or is_busy() then
    return false
  end
  local shown = same_among(edits, states[buffer].shown)
  if shown then
    accept(buffer, shown)
  else
    show(buffer, assert(next_from_cursor(edits)))
  end
  return true
end

---Dismiss the offer on show: its place stays silent.
---@return boolean # whether there is one
function M.dismiss()
  local buffer = vim.api.nvim_get_current_buf()
  local shown = states[buffer] and same_among(current(buffer), states[buffer].shown)
  if not shown then
    return false
  end
  end_shown(buffer)
  done(buffer, shown, "dismissed")
  draw(buffer)
  return true
end

---Return the rename in the current buffer that another language server can do everywhere.
---@return intarsia.Rename?
function M.rename()
  return rename_in(vim.api.nvim_get_current_buf())
end

---Have another language server rename everywhere what the last edit began to rename.
---@return boolean # whether there is such a rename
function M.rename_everywhere()
  local buffer = vim.api.nvim_get_current_buf()
  local rename = rename_in(buffer)
  if not rename then
    return false
  end
  end_shown(buffer)
  draw(buffer)
  return renaming.start(buffer, rename)
end

---Apply some of the current buffer's offers as one step of undo.
---@param edits intarsia.NextEdit[]
---@return boolean # whether they were applied
function M.apply(edits)
  local buffer = vim.api.nvim_get_current_buf()
  if #edits == 0 or not states[buffer] then
    return false
  end
  end_shown(buffer)
  if not apply(buffer, edits) then
    return false
  end
  for _, edit in ipairs(edits) do
    done(buffer, edit, "accepted")
  end
  return true
end

---@param buffer integer
local function on_change(buffer)
  local state, change = states[buffer], vim.fn.changenr()
  local is_undo = change < state.last_change
  local is_redo = change > state.last_change and change <= state.newest_change
  state.is_silent = is_undo or is_redo
  state.last_change = change
  state.newest_change = math.max(change, state.newest_change)
  if state.shown and state.version ~= vim.lsp.util.buf_versions[buffer] then
    end_shown(buffer)
    view.clear(buffer)
  end
  draw(buffer)
end

---@param buffer integer
local function on_move(buffer)
  local shown = states[buffer].shown
  if shown then
    local row = vim.api.nvim_win_get_cursor(0)[1] - 1
    local first, last = places.rows(buffer, shown)
    if row >= first and row <= last then
      return
    end
    end_shown(buffer)
  end
  if #states[buffer].edits > 0 then
    draw(buffer)
  end
end

---Mark offers in this buffer as long as the server is attached.
---@param buffer integer
function M.attach(buffer)
  if states[buffer] then
    return
  end
  local newest = vim.api.nvim_buf_call(buffer, vim.fn.changenr)
  states[buffer] =
    { edits = {}, last_change = newest, newest_change = newest, is_silent = false }
  local group = vim.api.nvim_create_augroup("intarsia.next_edit." .. buffer, {})
  local function on(events, act)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = buffer, callback = act })
  end
  on({ "TextChanged", "TextChangedI", "TextChangedP" }, function()
    on_change(buffer)
  end)
  on({ "CursorMoved", "CursorMovedI" }, function()
    on_move(buffer)
  end)
  on("BufLeave", function()
    end_shown(buffer)
    draw(buffer)
  end)
  on("LspDetach", function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == "intarsia" then
      end_shown(buffer)
      view.clear(buffer)
      states[buffer] = nil
      vim.api.nvim_del_augroup_by_id(group)
    end
  end)
end

---Draw again in the current buffer: suggestions were switched off or on.
function M.update()
  local buffer = vim.api.nvim_get_current_buf()
  if states[buffer] then
    if #current(buffer) == 0 then
      end_shown(buffer)
    end
    draw(buffer)
  end
end

return M
