-- Tells the server where the cursor has come to rest, so that it can read ahead there: by the one
-- message that LSP has for it, the request for code actions that a light bulb sends.

local M = {}

local REST_MS = 250
local AUTOMATIC = 2 -- CodeActionTriggerKind

local timer = assert(vim.uv.new_timer())

local function tell()
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

---@param buffer integer
function M.attach(buffer)
  vim.api.nvim_create_autocmd("CursorMoved", {
    group = vim.api.nvim_create_augroup("intarsia.rest." .. buffer, {}),
    buffer = buffer,
    callback = function()
      timer:start(REST_MS, 0, vim.schedule_wrap(tell))
    end,
  })
end

return M
