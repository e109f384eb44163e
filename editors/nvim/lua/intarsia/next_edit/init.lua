-- Next edits: what an edit of the user has left to change is marked, shown, accepted or dismissed.
-- This file has what others call, and follows what happens in a buffer.

local accept = require("intarsia.next_edit.accept")
local drawing = require("intarsia.next_edit.drawing")
local offers = require("intarsia.next_edit.offers")
local shown = require("intarsia.next_edit.shown")

local M = {}

M.dismiss = shown.dismiss
M.rename_everywhere = shown.rename_everywhere
M.apply = accept.accept_chosen

---Whether something else has precedence: ghost text, a menu, a snippet, a macro.
---@return boolean
local function is_busy()
  return vim.fn.pumvisible() == 1
    or (vim.snippet ~= nil and vim.snippet.active())
    or vim.fn.reg_recording() ~= ""
    or vim.fn.reg_executing() ~= ""
    or require("intarsia").is_shown()
end

---Take what the server offers in a document.
---@param offered { uri: string, version: integer, edits: intarsia.NextEdit[], rename?: intarsia.Rename, next?: lsp.Location }
function M.receive(offered)
  if vim.fn.bufexists(vim.uri_to_fname(offered.uri)) == 0 then
    return -- closed meanwhile: its number would be that of a new buffer
  end
  local buffer = vim.uri_to_bufnr(offered.uri)
  local state = offers.states[buffer]
  if not state then
    return
  end
  offers.receive(state, offered)
  local same = offers.same_among(offers.current(buffer), state.shown)
  if same then
    state.shown = same
  else
    shown.end_shown(buffer)
  end
  if #offers.current(buffer) > 0 then
    require("intarsia.ghost_text").give_way(buffer)
  end
  if not is_busy() then
    accept.go_on(buffer)
  end
  if vim.api.nvim_get_current_buf() == buffer then
    shown.map_rename(buffer)
  end
  drawing.draw(buffer)
end

---Return the offers of the current buffer, in the order of lines.
---@return intarsia.NextEdit[]
function M.offers()
  return offers.current(vim.api.nvim_get_current_buf())
end

---Whether the difference of an offer is on show.
---@param buffer integer
---@return boolean
function M.is_shown(buffer)
  local state = offers.states[buffer]
  return state ~= nil and state.shown ~= nil
end

---Show the next offer, or accept the one on show.
---@return boolean # whether there is one
function M.next()
  local buffer = vim.api.nvim_get_current_buf()
  local edits, elsewhere = offers.current(buffer), offers.elsewhere(buffer)
  if elsewhere and not is_busy() then
    vim.cmd("normal! m'") -- CTRL-O leads back
    vim.lsp.util.show_document(elsewhere, "utf-8", { focus = true, reuse_win = true })
    buffer = vim.api.nvim_get_current_buf()
    edits = offers.current(buffer)
  end
  if #edits == 0 or is_busy() then
    return false
  end
  local same = offers.same_among(edits, offers.states[buffer].shown)
  if same then
    accept.accept(buffer, same)
  else
    shown.show(buffer, assert(offers.next_from_cursor(edits)))
  end
  return true
end

---Return the rename in the current buffer that another language server can do everywhere.
---@return intarsia.Rename?
function M.rename()
  return offers.rename_in(vim.api.nvim_get_current_buf())
end

---@param buffer integer
local function on_change(buffer)
  local state = offers.states[buffer]
  if state.shown and state.version ~= vim.lsp.util.buf_versions[buffer] then
    shown.end_shown(buffer)
    drawing.clear(buffer)
  end
  drawing.draw(buffer)
end

---@param buffer integer
local function on_move(buffer)
  local state = offers.states[buffer]
  if state.shown then
    local row = vim.api.nvim_win_get_cursor(0)[1] - 1
    local first, last = offers.rows(buffer, state.shown)
    if row >= first and row <= last then
      return
    end
    shown.end_shown(buffer)
  end
  if #state.edits > 0 or state.rename or state.next then
    shown.map_rename(buffer)
    drawing.draw(buffer)
  end
end

---Mark offers in this buffer as long as the server is attached.
---@param buffer integer
function M.attach(buffer)
  if offers.states[buffer] then
    return
  end
  offers.states[buffer] = { edits = {} }
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
  on("BufEnter", function()
    drawing.draw(buffer)
  end)
  on("BufLeave", function()
    shown.end_shown(buffer)
    drawing.draw(buffer)
  end)
  on("LspDetach", function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == "intarsia" then
      shown.end_shown(buffer)
      drawing.clear(buffer)
      offers.states[buffer] = nil
      vim.api.nvim_del_augroup_by_id(group)
    end
  end)
end

---Draw again in the current buffer: suggestions were switched off or on.
function M.update()
  local buffer = vim.api.nvim_get_current_buf()
  if offers.states[buffer] then
    if #offers.current(buffer) == 0 then
      shown.end_shown(buffer)
    end
    drawing.draw(buffer)
  end
end

return M
