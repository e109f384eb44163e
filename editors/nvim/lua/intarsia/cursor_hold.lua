-- Notifies the server when the cursor rests, so that the engine can read the code there in idle time.
-- LSP has no message for that; a request for code actions, as for a light bulb, serves as one.

local M = {}

local REST_MS = 250
local AUTOMATIC = 2 -- CodeActionTriggerKind

local timer = assert(vim.uv.new_timer())

local function notify()
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
    group = vim.api.nvim_create_augroup("intarsia.cursor_hold." .. buffer, {}),
    buffer = buffer,
    callback = function()
      timer:start(REST_MS, 0, vim.schedule_wrap(notify))
    end,
  })
end

return M
