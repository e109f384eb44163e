-- Ghost text: asks the server while the user types, draws the answer at the cursor, takes it over.
-- Neovim 0.11 has no inline completion of its own. The server waits for a pause in typing by itself.

local M = {}

local namespace = vim.api.nvim_create_namespace("intarsia")
local AUTOMATIC, INVOKED = 2, 1

---@class intarsia.Ghost what is drawn, in bytes of the buffer
---@field row integer
---@field col integer
---@field text string

---@class intarsia.State of one buffer
---@field ghosts intarsia.Ghost[] candidates, best first
---@field index integer the one that is shown
---@field has_all boolean several candidates have been asked for
---@field place? string where the cursor was when the server was asked last
---@field token? table of the request that runs
---@field cancel? fun() ends the request that runs

---@type table<integer, intarsia.State>
local states = {}

---@return vim.lsp.Client?
local function client_of(buffer)
  return vim.lsp.get_clients({ bufnr = buffer, name = "intarsia" })[1]
end

---@return integer row, integer col from 0, in bytes
local function cursor()
  local place = vim.api.nvim_win_get_cursor(0)
  return place[1] - 1, place[2]
end

---Return what tells one state of text and cursor from another.
local function place_of(buffer)
  local row, col = cursor()
  return ("%d:%d:%d"):format(vim.api.nvim_buf_get_changedtick(buffer), row, col)
end

local function line_at(buffer, row)
  return vim.api.nvim_buf_get_lines(buffer, row, row + 1, false)[1] or ""
end

---@param state intarsia.State
local function draw(buffer, state)
  if not vim.api.nvim_buf_is_loaded(buffer) then
    return
  end
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  local ghost = state.ghosts[state.index]
  if not ghost then
    return
  end
  local lines = vim.split(ghost.text:gsub("\r\n", "\n"), "\n", { plain = true })
  local below = vim.tbl_map(function(line)
    return { { line, "IntarsiaGhostText" } }
  end, vim.list_slice(lines, 2))
  vim.api.nvim_buf_set_extmark(buffer, namespace, ghost.row, ghost.col, {
    virt_text = { { lines[1], "IntarsiaGhostText" } },
    virt_text_pos = "inline",
    virt_lines = #below > 0 and below or nil,
  })
end

local function clear(buffer)
  local state = states[buffer]
  if state then
    if state.cancel then
      state.cancel()
    end
    states[buffer] = { ghosts = {}, index = 1, has_all = false }
    draw(buffer, states[buffer])
  end
end

---Return the items as ghosts at the cursor: this server's items only insert, and do it there.
---@return intarsia.Ghost[]
local function as_ghosts(result)
  local row, col = cursor()
  return vim.tbl_map(function(item)
    return { row = row, col = col, text = item.insertText }
  end, result and result.items or {})
end

---Whether ghost text may be drawn: not over the completion menu.
local function is_typing_in(buffer)
  local is_inserting = vim.startswith(vim.api.nvim_get_mode().mode, "i")
  return is_inserting and vim.api.nvim_get_current_buf() == buffer and vim.fn.pumvisible() == 0
end

---Ask, and show the candidate with this number (counted round) once they are there.
---@param kind integer
---@param index integer
local function request(buffer, kind, index)
  local client, state = client_of(buffer), states[buffer]
  if not client or not state then
    return
  end
  if state.cancel then
    state.cancel()
  end
  local place, token = place_of(buffer), {}
  state.place, state.token = place, token
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  params.context = { triggerKind = kind }
  local is_sent, id = client:request("textDocument/inlineCompletion", params, function(_, result)
    if states[buffer] ~= state or state.token ~= token then
      return -- a newer request has taken its place
    end
    if not is_typing_in(buffer) or place_of(buffer) ~= place then
      return -- the user has gone on meanwhile
    end
    state.cancel = nil
    state.ghosts = as_ghosts(result)
    state.has_all = kind == INVOKED
    state.index = (index - 1) % math.max(1, #state.ghosts) + 1
    draw(buffer, state)
  end, buffer)
  state.cancel = is_sent and function()
    state.cancel = nil
    client:cancel_request(id)
  end or nil
end

---Return the ghost less what has been typed along it, nil when something else was typed.
---@param ghost intarsia.Ghost
---@return intarsia.Ghost?
local function typed_along(buffer, ghost)
  local row, col = cursor()
  local typed = line_at(buffer, row):sub(ghost.col + 1, col)
  local is_along = row == ghost.row and col >= ghost.col and #typed < #ghost.text
  if is_along and vim.startswith(ghost.text, typed) then
    return { row = row, col = col, text = ghost.text:sub(#typed + 1) }
  end
end

---After every key: keep what was typed along, else ask anew.
local function update(buffer)
  local state = states[buffer]
  local place = place_of(buffer)
  if not state or state.place == place or not is_typing_in(buffer) then
    return
  end
  local shown = state.ghosts[state.index]
  local rest = shown and typed_along(buffer, shown)
  clear(buffer)
  if rest then
    states[buffer].ghosts = { rest }
    states[buffer].place = place
    draw(buffer, states[buffer])
  else
    request(buffer, AUTOMATIC, 1)
  end
end

---Insert the ghost text and put the cursor behind it.
---@return boolean whether there was one
function M.accept()
  local buffer = vim.api.nvim_get_current_buf()
  local state = states[buffer]
  local ghost = state and state.ghosts[state.index]
  if not ghost or state.place ~= place_of(buffer) then
    return false
  end
  clear(buffer)
  local lines = vim.split(ghost.text:gsub("\r\n", "\n"), "\n", { plain = true })
  vim.api.nvim_buf_set_text(buffer, ghost.row, ghost.col, ghost.row, ghost.col, lines)
  local col = #lines == 1 and ghost.col + #lines[1] or #lines[#lines]
  vim.api.nvim_win_set_cursor(0, { ghost.row + #lines, col })
  return true
end

---Show the next suggestion; the first time the server is asked for several.
---@return boolean
function M.next()
  local buffer = vim.api.nvim_get_current_buf()
  local state = states[buffer]
  if not state then
    return false
  end
  if state.has_all and #state.ghosts > 1 and state.place == place_of(buffer) then
    state.index = state.index % #state.ghosts + 1
    draw(buffer, state)
  else
    request(buffer, INVOKED, #state.ghosts + 1)
  end
  return true
end

---Show ghost text in a buffer that the server is attached to.
---@param buffer integer
function M.attach(buffer)
  if states[buffer] then
    return
  end
  states[buffer] = { ghosts = {}, index = 1, has_all = false }
  local group = vim.api.nvim_create_augroup("intarsia." .. buffer, {})
  local function on(events, act)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = buffer, callback = act })
  end
  on({ "TextChangedI", "CursorMovedI" }, function()
    update(buffer)
  end)
  on("InsertEnter", function()
    vim.schedule(function() -- the cursor is not yet where it will be
      update(buffer)
    end)
  end)
  on({ "InsertLeave", "BufLeave", "TextChangedP", "CompleteChanged" }, function()
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
end

return M
