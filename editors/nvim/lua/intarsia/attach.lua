-- Sets up a buffer when the server attaches to it.

local M = {}

local REST_MS = 250
local AUTOMATIC = 2 -- CodeActionTriggerKind

local timer = assert(vim.uv.new_timer())

---Notify the server that the cursor rests, so that the engine can read the code there in idle time.
---LSP has no message for that; a request for code actions, as for a light bulb, serves as one.
local function tell_cursor()
  local buffer = vim.api.nvim_get_current_buf()
  local client = require("intarsia.server").client(buffer)
  if not client or not require("intarsia.switch").is_on() then
    return
  end
  local params = vim.lsp.util.make_range_params(0, client.offset_encoding)
  params.range["end"] = params.range.start
  params.context = { diagnostics = {}, triggerKind = AUTOMATIC }
  client:request("textDocument/codeAction", params, function() end, buffer)
end

---Attach again once a buffer without a name is saved under one: Neovim then drops all autocommands
---of the buffer, its own for language servers too.
---@param client vim.lsp.Client
---@param buffer integer
local function follow_to_file(client, buffer)
  local group = vim.api.nvim_create_augroup("intarsia.unnamed." .. buffer, {})
  vim.api.nvim_create_autocmd("BufWipeout", {
    group = group,
    buffer = buffer,
    callback = function()
      vim.lsp.buf_detach_client(buffer, client.id) -- while it still has the URI that is open
    end,
  })
  vim.api.nvim_create_autocmd("BufWritePost", {
    group = group,
    callback = function(event)
      local current = require("intarsia.server").client()
      if event.buf ~= buffer or not current then
        return false
      end
      vim.lsp.buf_attach_client(buffer, current.id)
      return true
    end,
  })
end

---Show the server's suggestions in this buffer, as the options demand.
---@param client vim.lsp.Client
---@param buffer integer
function M.attach(client, buffer)
  require("intarsia.server").add_project(client, buffer)
  if vim.api.nvim_buf_get_name(buffer) == "" then
    follow_to_file(client, buffer)
  end
  require("intarsia.status").announce()
  vim.api.nvim_create_autocmd("CursorMoved", {
    group = vim.api.nvim_create_augroup("intarsia.cursor." .. buffer, {}),
    buffer = buffer,
    callback = function()
      timer:start(REST_MS, 0, vim.schedule_wrap(tell_cursor))
    end,
  })
  require("intarsia.highlights").define()
  require("intarsia.next_edit").attach(buffer)
  local options = require("intarsia.options").current
  if options.completion then
    require("intarsia.keys").map(buffer, { "next_edit" })
    return
  end
  if require("intarsia.options").is_native() then
    vim.lsp.inline_completion.enable(true, { bufnr = buffer, client_id = client.id })
  else
    if options.native then
      vim.notify_once(
        "intarsia: `native` needs Neovim 0.12; ghost text is drawn by the plugin",
        vim.log.levels.WARN
      )
    end
    require("intarsia.ghost_text").attach(buffer)
  end
  require("intarsia.keys").map(buffer)
end

return M
