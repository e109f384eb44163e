-- What happens when the server attaches to a buffer.

local M = {}

---Show what the server says in this buffer, as the options want it.
---@param client vim.lsp.Client
---@param buffer integer
function M.attach(client, buffer)
  require("intarsia.status").announce()
  require("intarsia.rest").attach(buffer)
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
