-- Ghost text: requests suggestions while the user types, draws them at the cursor, and keeps one while
-- the user types it. The server itself waits for a pause in typing.

local candidate = require("intarsia.candidate")
local cursor = require("intarsia.cursor")
local extmarks = require("intarsia.extmarks")
local request = require("intarsia.request")

local M = {}

---@class intarsia.State of one buffer
---@field candidates intarsia.Candidate[] best first
---@field anchor? intarsia.Anchor where they begin
---@field index integer the candidate that is shown
---@field has_all boolean several candidates were requested
---@field is_invoked boolean the last request was made by a key of the user
---@field place? string the text's version and the cursor's position at the last update
---@field request? intarsia.Request the running one
---@field draft_widths integer[] of the drawn draft; empty where none is drawn
---@field on_answer? fun() called once the answer replaces the draft

---@type table<integer, intarsia.State>
local states = {}

---@return intarsia.State
local function empty_state()
  return { candidates = {}, index = 1, has_all = false, is_invoked = false, draft_widths = {} }
end

---Whether ghost text may be drawn here now.
---@param buffer integer
---@return boolean
local function is_allowed(buffer)
  if vim.api.nvim_get_current_buf() ~= buffer or not vim.bo[buffer].modifiable then
    return false
  end
  local is_inserting = vim.startswith(vim.api.nvim_get_mode().mode, "i")
  local is_macro = vim.fn.reg_recording() ~= "" or vim.fn.reg_executing() ~= ""
  local is_beyond_line = vim.fn.getcurpos()[4] > 0 -- 'virtualedit'
  local manners = require("intarsia.manners")
  local state = states[buffer]
  return is_inserting
    and not (is_macro or is_beyond_line or manners.is_word_selected())
    and (state ~= nil and state.is_invoked or not manners.is_occupied())
    and not require("intarsia.next_edit").is_shown(buffer)
    and require("intarsia.switch").is_on()
end

---@param state intarsia.State
local function cancel(state)
  if state.request then
    state.request.cancel()
    state.request = nil
  end
  state.draft_widths = {}
  state.on_answer = nil
end

---Remove the ghost text; the candidates are kept.
---@param buffer integer
local function hide(buffer)
  local state = states[buffer]
  cancel(state)
  state.place = nil
  extmarks.clear(buffer)
end

---Remove the ghost text and the candidates.
---@param buffer integer
local function clear(buffer)
  if states[buffer] then
    hide(buffer)
    states[buffer] = empty_state()
  end
end

---Return the numbers of the candidates that start with the typed text, and that text.
---@param buffer integer
---@param state intarsia.State
---@return integer[] numbers, string typed
local function fitting(buffer, state)
  local typed = state.anchor and cursor.typed_since(buffer, state.anchor)
  local numbers = {}
  for number, suggested in ipairs(typed and state.candidates or {}) do
    if candidate.rest(suggested.text, typed) then
      table.insert(numbers, number)
    end
  end
  return numbers, typed or ""
end

---Draw the current candidate, or the first that still fits.
---@param buffer integer
---@return boolean # whether there is one
local function draw(buffer)
  local state = states[buffer]
  local numbers, typed = fitting(buffer, state)
  if #numbers == 0 then
    extmarks.clear(buffer)
    return false
  end
  local order = vim.iter(numbers):enumerate():find(function(_, number)
    return number == state.index
  end) or 1
  state.index = numbers[order]
  local row, col = cursor.position()
  local current = state.candidates[state.index]
  local is_counted = state.has_all and #numbers > 1
  local notes = { is_counted and ("(%d/%d)"):format(order, #numbers) or nil }
  if current.imports then
    table.insert(notes, ("(%s)"):format(current.imports.title))
  end
  local runs = candidate.runs(current, typed)
  local note = #notes > 0 and table.concat(notes, " ") or nil
  extmarks.draw(buffer, row, col, extmarks.split(runs), note)
  return true
end

---@param buffer integer
---@param kind integer
---@param index integer the candidate to show, modulo their number
local function ask(buffer, kind, index)
  local state = states[buffer]
  cancel(state)
  state.is_invoked = kind == request.INVOKED
  state.request = request.send(buffer, kind, function(answered, candidates, col)
    if states[buffer] ~= state or state.request ~= answered then
      return -- a newer request replaced it
    end
    local on_answer = state.on_answer
    state.request, state.draft_widths, state.on_answer = nil, {}, nil
    if not is_allowed(buffer) or cursor.place(buffer) ~= answered.place then
      return -- the user has typed or moved
    end
    state.candidates = candidates
    state.anchor = cursor.anchor(buffer, col)
    state.has_all = kind == request.INVOKED
    state.index = (index - 1) % math.max(1, #candidates) + 1
    if draw(buffer) and on_answer then
      on_answer()
    end
  end)
end

---Update the buffer: keep a candidate whose start was typed, else request new ones.
---@param buffer integer
function M.update(buffer)
  local state = states[buffer]
  if not state then
    return
  end
  if not is_allowed(buffer) then
    hide(buffer)
    return
  end
  local place = cursor.place(buffer)
  if state.place == place then
    return
  end
  state.place = place
  cancel(state)
  if draw(buffer) then
    return
  end
  state.is_invoked = false
  if is_allowed(buffer) then
    ask(buffer, request.AUTOMATIC, 1)
  else
    hide(buffer)
  end
end

---Draw a draft of the running request. Where an answer was revised after it was given, and nothing
---has changed since, request it again.
---@param draft intarsia.Draft
function M.show_draft(draft)
  local buffer = vim.api.nvim_get_current_buf()
  local state, client = states[buffer], require("intarsia.server").client(buffer)
  if not state or not client or not is_allowed(buffer) then
    return
  end
  local here = vim.lsp.util.make_position_params(0, client.offset_encoding)
  local is_here = draft.textDocument.uri == here.textDocument.uri
    and draft.textDocument.version == vim.lsp.util.buf_versions[buffer]
    and vim.deep_equal(draft.range.start, here.position)
  if is_here and draft.revised and not state.request then
    ask(buffer, request.AUTOMATIC, 1)
  elseif is_here and not draft.revised and state.request and #fitting(buffer, state) == 0 then
    local row, col = cursor.position()
    extmarks.draw(buffer, row, col, require("intarsia.draft").lines(draft, state.draft_widths))
  end
end

---Return the rest of the shown candidate, and the start of it that the model is sure of.
---@param buffer integer
---@return string? rest
---@return string? sure
---@return lsp.Command? imports adds what the candidate needs
function M.shown(buffer)
  local state = states[buffer]
  if not state or not is_allowed(buffer) then
    return nil
  end
  local numbers, typed = fitting(buffer, state)
  if vim.list_contains(numbers, state.index) then
    local current = state.candidates[state.index]
    return candidate.rest(current.text, typed), candidate.rest(current.sure, typed), current.imports
  end
end

---Follow the text down: lines were added above the suggestion, which stays.
---@param buffer integer
---@param num_lines integer
function M.moved_down(buffer, num_lines)
  local anchor = states[buffer] and states[buffer].anchor
  if anchor then
    anchor.row = anchor.row + num_lines
    anchor.num_lines = anchor.num_lines + num_lines
  end
end

---Act once the answer replaces the shown draft, unless the user types or moves before.
---@param buffer integer
---@param act fun()
---@return boolean # whether a draft is shown
function M.on_answer(buffer, act)
  local state = states[buffer]
  if not state or not state.request or #state.draft_widths == 0 then
    return false
  end
  state.on_answer = act
  return true
end

---Show the next or the previous candidate; the first time, request several.
---@param step 1|-1
---@return boolean # whether ghost text may be shown here
function M.cycle(step)
  local buffer = vim.api.nvim_get_current_buf()
  local state = states[buffer]
  if not state then
    return false
  end
  state.is_invoked = true
  if not is_allowed(buffer) then
    return false
  end
  local numbers = fitting(buffer, state)
  if state.has_all and #numbers > 1 then
    local order = vim.fn.index(numbers, state.index)
    state.index = numbers[(order + step) % #numbers + 1]
    draw(buffer)
  else
    state.place = cursor.place(buffer)
    ask(buffer, request.INVOKED, step > 0 and #numbers + 1 or 0)
  end
  return true
end

---Hide the ghost text until the text or the cursor changes, and tell the server.
---@return boolean # whether there was one
function M.dismiss()
  local buffer = vim.api.nvim_get_current_buf()
  if not M.shown(buffer) then
    return false
  end
  local place = states[buffer].place
  clear(buffer)
  request.tell_dismissed(buffer)
  states[buffer].place = place
  return true
end

---Hide ghost text of one word: a next edit was found.
---@param buffer integer
function M.give_way(buffer)
  local shown = M.shown(buffer)
  if shown and vim.fn.match(shown, [[^\k\+$]]) == 0 then
    local place = states[buffer].place
    clear(buffer)
    states[buffer].place = place
  end
end

---Show ghost text in a buffer that the server is attached to.
---@param buffer integer
function M.attach(buffer)
  if states[buffer] then
    return
  end
  states[buffer] = empty_state()
  local group = vim.api.nvim_create_augroup("intarsia.ghost_text." .. buffer, {})
  local function on(events, act)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = buffer, callback = act })
  end
  local function update()
    M.update(buffer)
  end
  local function update_soon() -- cursor and menu are not up to date yet
    vim.schedule(update)
  end
  on({ "TextChangedI", "TextChangedP", "CursorMovedI" }, update)
  on({ "InsertEnter", "CompleteChanged", "CompleteDone" }, update_soon)
  on({ "InsertLeave", "BufLeave" }, function()
    clear(buffer)
  end)
  on("LspDetach", function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == "intarsia" then
      clear(buffer)
      states[buffer] = nil
      vim.api.nvim_del_augroup_by_id(group)
    end
  end)
  update_soon() -- the user may already be typing
end

return M
