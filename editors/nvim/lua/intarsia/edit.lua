-- Inline edits: requests one from the server, shows its progress, and applies it if the text has not
-- changed.

local M = {}

local COMMAND = "intarsia.edit"
local TITLES = {
  fill = "filling",
  fillAll = "filling all holes",
  rewrite = "rewriting",
  instruct = "editing",
  document = "writing a docstring",
}

local running ---@type fun()? cancels the running edit

---@param level integer
---@param message string
local function notify(level, message)
  vim.notify("intarsia: " .. message, level)
end

---Whether each document still has the version that the edit was made for.
---@param edit table a WorkspaceEdit
---@return boolean
local function is_current(edit)
  return vim.iter(edit.documentChanges or {}):all(function(change)
    local document = change.textDocument
    local version = vim.lsp.util.buf_versions[vim.uri_to_bufnr(document.uri)]
    return document.version == vim.NIL or document.version == nil or document.version == version
  end)
end

---@param client vim.lsp.Client
---@param result table an EditResult
local function apply(client, result)
  local reason = type(result.reason) == "string" and result.reason or nil
  if type(result.caution) == "string" then
    notify(vim.log.levels.WARN, result.caution)
  end
  if type(result.edit) ~= "table" then
    notify(vim.log.levels.WARN, reason or "nothing to change")
  elseif not is_current(result.edit) then
    notify(vim.log.levels.WARN, "the text has changed, so nothing was replaced: try again")
  else
    vim.lsp.util.apply_workspace_edit(result.edit, client.offset_encoding)
    if result.holes > 1 or reason then
      local count = ("%d of %d filled"):format(result.filled, result.holes)
      notify(vim.log.levels.INFO, reason and ("%s: %s"):format(count, reason) or count)
    end
  end
end

---@param buffer integer
---@return vim.lsp.Client? client
---@return string? problem
local function client_for(buffer)
  local client = require("intarsia.server").client(buffer)
  local provider = client and client.server_capabilities.executeCommandProvider
  if not client then
    return nil, "the server is not attached to this buffer (see :checkhealth intarsia)"
  elseif not provider or not vim.list_contains(provider.commands, COMMAND) then
    return nil, "this server cannot edit: install server and plugin in the same version"
  elseif not vim.bo[buffer].modifiable then
    return nil, "this buffer cannot be changed ('nomodifiable')"
  elseif running then
    return nil, "another edit runs: :Intarsia cancel ends it"
  end
  return client
end

---Request an edit.
---@param kind "fill"|"fillAll"|"rewrite"|"instruct"|"document"
---@param selection? intarsia.Selection nil: the whole file (fillAll)
---@param options? { noise?: number, instruction?: string } of a rewrite, of an instruct
function M.start(kind, selection, options)
  local buffer = vim.api.nvim_get_current_buf()
  local client, problem = client_for(buffer)
  if not client then
    return notify(vim.log.levels.ERROR, problem --[[@as string]])
  end
  require("intarsia.highlights").define()
  local progress = require("intarsia.progress").begin(client, buffer, selection, TITLES[kind])
  local keys = require("intarsia.keys")
  local unmap = keys.map_for_now(buffer, "<C-c>", M.cancel, "cancel the edit") or function() end
  local range = selection
    and require("intarsia.selection").as_range(selection, client.offset_encoding)
  local arguments = vim.tbl_extend("error", options or {}, {
    kind = kind,
    textDocument = {
      uri = vim.uri_from_bufnr(buffer),
      version = vim.lsp.util.buf_versions[buffer],
    },
    range = range or vim.NIL,
    apply = false,
  })
  local listener ---@type integer
  local function finish()
    running = nil
    vim.api.nvim_del_autocmd(listener)
    progress.finish()
    unmap()
  end
  local id ---@type integer?
  local function give_up(level, message)
    client:cancel_request(assert(id)) -- Neovim calls no handler after that
    finish()
    notify(level, message .. ", nothing was replaced")
  end
  local function cancel()
    give_up(vim.log.levels.INFO, "cancelled")
  end
  listener = vim.api.nvim_create_autocmd("LspDetach", { -- a server that died never answers
    callback = function(event)
      if id and event.buf == buffer and event.data.client_id == client.id then
        give_up(vim.log.levels.WARN, "the server has detached from this file")
      end
    end,
  })
  local params = { command = COMMAND, arguments = { arguments }, workDoneToken = progress.token }
  local is_sent
  is_sent, id = client:request("workspace/executeCommand", params, function(error, result)
    if running ~= cancel then
      return -- it was cancelled just before the answer came
    end
    finish()
    if error then
      notify(vim.log.levels.ERROR, error.message)
    else
      apply(client, result)
    end
  end, buffer)
  if not is_sent then
    return finish()
  end
  running = cancel
end

---Cancel the running edit; nothing is replaced.
function M.cancel()
  if running then
    running()
  else
    notify(vim.log.levels.INFO, "no edit runs")
  end
end

return M
