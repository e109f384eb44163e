-- Sets up a buffer when the server attaches to it.

local M = {}

---Show the server's suggestions in this buffer, as the options demand.
---@param client vim.lsp.Client
---@param buffer integer
function M.attach(client, buffer)
  require("intarsia.server").add_project(client, buffer)
  require("intarsia.status").announce()
  require("intarsia.cursor_hold").attach(buffer)
  local options = require("intarsia.options").current
  if options.completion then
    return
  end
  require("intarsia.highlights").define()
  if require("intarsia.capabilities").is_native() then
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
