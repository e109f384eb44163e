-- Adds the imports that an accepted text needs, in the same undo step.

local M = {}

local PATIENCE_MS = 200 -- the server answers within a few milliseconds

---Whether a text uses a name as a word of its own.
---@param text string
---@param name string
---@return boolean
local function uses(text, name)
  local first = name:match("^[^.]+") or name
  return text:find("%f[%w_]" .. vim.pesc(first) .. "%f[^%w_]") ~= nil
end

---Add the imports whose names are in the text; nothing where the server does not answer soon.
---@param buffer integer
---@param command lsp.Command
---@param text string
function M.add(buffer, command, text)
  local client = require("intarsia.server").client(buffer)
  local argument = (command.arguments or {})[1]
  if not client or not argument then
    return
  end
  local needed = vim.tbl_filter(function(import)
    return uses(text, import["local"])
  end, argument.imports)
  if #needed == 0 then
    return
  end
  local asked = vim.tbl_extend("force", argument, { imports = needed, apply = false })
  local params = { command = command.command, arguments = { asked } }
  local answer = client:request_sync("workspace/executeCommand", params, PATIENCE_MS, buffer)
  local result = answer and answer.result
  if result and result.version == vim.lsp.util.buf_versions[buffer] and #result.edits > 0 then
    local num_lines = vim.api.nvim_buf_line_count(buffer)
    vim.lsp.util.apply_text_edits(result.edits, buffer, client.offset_encoding)
    local num_new = vim.api.nvim_buf_line_count(buffer) - num_lines
    require("intarsia.ghost_text").moved_down(buffer, num_new)
  end
end

return M
