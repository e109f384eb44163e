-- Renames everywhere by another language server, in place of the offers; else by ours. The old name
-- is put back for another server: it sees the text before the user's edit, and knows every use.

local cursor = require("intarsia.cursor")

local M = {}

local METHOD = "textDocument/rename"
local TIMEOUT_MS = 10000

local namespace = vim.api.nvim_create_namespace("intarsia.rename")

---@class intarsia.Rename as in the notification intarsia/nextEdits
---@field oldName string
---@field newName string
---@field ranges lsp.Range[] where the new name is
---@field position lsp.Position in the text with the old name there
---@field elsewhere? { files: integer, uses: integer } that our server can rename

---@class intarsia.RunningRename
---@field buffer integer
---@field rename intarsia.Rename
---@field server vim.lsp.Client intarsia's
---@field typed string[] the lines with the user's edit
---@field tick integer of the buffer, with the old name in it
---@field marks integer[] where the old name is
---@field place [integer, integer] where to ask for the rename: row and column
---@field clients vim.lsp.Client[] that have not been asked

local running ---@type intarsia.RunningRename?

---Return the other language servers of a buffer that can rename.
---@param buffer integer
---@return vim.lsp.Client[]
function M.clients(buffer)
  return vim.tbl_filter(function(client)
    return client.name ~= "intarsia"
  end, vim.lsp.get_clients({ bufnr = buffer, method = METHOD }))
end

---Change the buffer as a part of the newest step of undo.
---@param buffer integer
---@param change fun()
local function joined(buffer, change)
  vim.api.nvim_buf_call(buffer, function()
    pcall(vim.cmd.undojoin) -- right after undo it would be an error
    change()
  end)
end

---Put the old name back, if the new one is in all places; return marks of these.
---@param buffer integer
---@param rename intarsia.Rename
---@return integer[]?
local function put_back(buffer, rename)
  local places = vim.tbl_map(function(range)
    local row, col = cursor.of_position(buffer, range.start)
    return { row, col, select(2, cursor.of_position(buffer, range["end"])) }
  end, rename.ranges)
  for _, place in ipairs(places) do
    local text = vim.api.nvim_buf_get_text(buffer, place[1], place[2], place[1], place[3], {})
    if text[1] ~= rename.newName then
      return nil
    end
  end
  local marks = {}
  joined(buffer, function()
    for index = #places, 1, -1 do -- from the end: earlier places stay where they are
      local row, col, stop = unpack(places[index])
      vim.api.nvim_buf_set_text(buffer, row, col, row, stop, { rename.oldName })
      -- What is typed right before or after the name is no part of it.
      marks[index] = vim.api.nvim_buf_set_extmark(buffer, namespace, row, col, {
        end_row = row,
        end_col = col + #rename.oldName,
        right_gravity = true,
        end_right_gravity = false,
      })
    end
  end)
  return marks
end

---Put the new name where the old one still is.
---@param this intarsia.RunningRename
local function put_new(this)
  joined(this.buffer, function()
    for _, mark in ipairs(this.marks) do
      local found =
        vim.api.nvim_buf_get_extmark_by_id(this.buffer, namespace, mark, { details = true })
      local row, col, details = found[1], found[2], found[3]
      if row and details.end_row == row and details.end_col - col == #this.rename.oldName then
        local stop = details.end_col
        local text = vim.api.nvim_buf_get_text(this.buffer, row, col, row, stop, {})[1]
        if text == this.rename.oldName then
          vim.api.nvim_buf_set_text(this.buffer, row, col, row, stop, { this.rename.newName })
        end
      end
    end
  end)
  vim.cmd("let &g:undolevels = &g:undolevels") -- what follows is a step of undo of its own
  vim.api.nvim_buf_clear_namespace(this.buffer, namespace, 0, -1)
end

---Tell the user what was renamed, or why nothing was.
---@param names intarsia.Rename
---@param problem? string
---@param num_files? integer that were changed
local function show(names, problem, num_files)
  if problem then
    local message = "intarsia: not renamed, and the offers are as before: " .. problem
    return vim.notify(message, vim.log.levels.WARN)
  end
  local words = "intarsia: renamed %s to %s in %d %s"
  local files = num_files == 1 and "file" or "files"
  vim.notify(words:format(names.oldName, names.newName, num_files, files))
end

---Have our server rename what it finds.
---@param buffer integer
---@param rename intarsia.Rename
---@param server vim.lsp.Client
local function by_us(buffer, rename, server)
  local argument = { textDocument = { uri = vim.uri_from_bufnr(buffer) }, apply = false }
  local params = { command = "intarsia.renameInFiles", arguments = { argument } }
  server:notify("intarsia/renaming", { state = "begun" })
  server:request("workspace/executeCommand", params, function(error, result)
    local edit = result and result.edit
    local problem = error and error.message
    if not problem and type(edit) == "table" then
      local is_done, why = pcall(vim.lsp.util.apply_workspace_edit, edit, server.offset_encoding)
      problem = not is_done and tostring(why) or nil
    elseif not problem then
      problem = result and result.reason or "there was no answer"
    end
    server:notify("intarsia/renaming", { state = problem and "failed" or "done" })
    show(rename, problem, type(edit) == "table" and #edit.documentChanges or 0)
  end, buffer)
end

---Put the new name where it is missing, tell the server how the rename ended, and tell the user.
---@param this intarsia.RunningRename
---@param problem? string nil: it was renamed
---@param num_files? integer that were changed
local function finish(this, problem, num_files)
  running = nil
  if vim.api.nvim_buf_is_loaded(this.buffer) then
    put_new(this)
    local lines = vim.api.nvim_buf_get_lines(this.buffer, 0, -1, false)
    if num_files == 1 and vim.deep_equal(lines, this.typed) then
      problem = "no other use was found"
    end
  end
  this.server:notify("intarsia/renaming", { state = problem and "failed" or "done" })
  if problem and this.rename.elsewhere then
    return by_us(this.buffer, this.rename, this.server)
  end
  show(this.rename, problem, num_files)
end

---Return the edits of an answer by buffer.
---@param edit lsp.WorkspaceEdit
---@return table<integer, lsp.TextEdit[]>
local function edits_by_buffer(edit)
  local found = {}
  local function add(uri, edits)
    local buffer = vim.uri_to_bufnr(uri)
    found[buffer] = vim.list_extend(found[buffer] or {}, edits)
  end
  for uri, edits in pairs(not edit.documentChanges and edit.changes or {}) do
    add(uri, edits)
  end
  for _, change in ipairs(edit.documentChanges or {}) do
    if change.textDocument then
      add(change.textDocument.uri, change.edits)
    end
  end
  return found
end

---@param one lsp.Position
---@param other lsp.Position
---@return boolean
local function is_before_or_at(one, other)
  return one.line < other.line or one.line == other.line and one.character <= other.character
end

---Apply an answer; return how many files it changes, or why it was not applied.
---@param this intarsia.RunningRename
---@param client vim.lsp.Client
---@param edit lsp.WorkspaceEdit
---@param position lsp.Position
---@return integer? num_files
---@return string? problem
local function apply(this, client, edit, position)
  local edits = edits_by_buffer(edit)
  local is_there = vim.iter(edits[this.buffer] or {}):any(function(it)
    return is_before_or_at(it.range.start, position) and is_before_or_at(position, it.range["end"])
  end)
  if not is_there then
    return nil, "its edit does not rename this name"
  end
  local is_done, problem
  joined(this.buffer, function()
    is_done, problem = pcall(vim.lsp.util.apply_workspace_edit, edit, client.offset_encoding)
  end)
  if not is_done then
    return nil, tostring(problem)
  end
  return vim.tbl_count(edits)
end

---Ask the next language server; end where one has renamed, or none is left.
---@param this intarsia.RunningRename
---@param problem? string of the last one
local function ask(this, problem)
  local client = table.remove(this.clients, 1)
  if not client then
    return finish(this, problem)
  end
  local row, col = unpack(this.place)
  local line = cursor.line_at(this.buffer, row)
  local character = vim.str_utfindex(line, client.offset_encoding, col, false)
  local position = { line = row, character = character }
  local is_answered = false
  local is_sent, id
  local function answered(error, edit)
    if is_answered then
      return -- too late
    end
    is_answered = true
    local is_loaded = vim.api.nvim_buf_is_loaded(this.buffer)
    if not is_loaded or vim.api.nvim_buf_get_changedtick(this.buffer) ~= this.tick then
      return finish(this, "the text has changed")
    end
    local num_files, why
    if type(edit) == "table" then
      num_files, why = apply(this, client, edit, position)
    else
      why = error and error.message or "it found nothing to rename"
    end
    if num_files then
      return finish(this, nil, num_files)
    end
    ask(this, ("%s: %s"):format(client.name, why))
  end
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(this.buffer) },
    position = position,
    newName = this.rename.newName,
  }
  is_sent, id = client:request(METHOD, params, answered, this.buffer)
  if not is_sent then
    return answered({ message = "it has ended" })
  end
  vim.defer_fn(function()
    if not is_answered then
      client:cancel_request(assert(id))
      answered({ message = ("no answer in %d s"):format(TIMEOUT_MS / 1000) })
    end
  end, TIMEOUT_MS)
end

---Rename everywhere.
---@param buffer integer
---@param rename intarsia.Rename for the text as it is
---@return boolean # whether it has begun
function M.start(buffer, rename)
  local server, clients = require("intarsia.server").client(buffer), M.clients(buffer)
  if running or not server or #clients == 0 and not rename.elsewhere then
    return false
  elseif #clients == 0 then
    by_us(buffer, rename, server)
    return true
  end
  server:notify("intarsia/renaming", { state = "begun" })
  local typed = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  local marks = put_back(buffer, rename)
  if not marks then
    server:notify("intarsia/renaming", { state = "failed" })
    return false
  end
  running = {
    buffer = buffer,
    rename = rename,
    server = server,
    typed = typed,
    tick = vim.api.nvim_buf_get_changedtick(buffer),
    marks = marks,
    place = { cursor.of_position(buffer, rename.position) },
    clients = clients,
  }
  ask(running)
  return true
end

return M
