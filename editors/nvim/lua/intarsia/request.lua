-- Requests suggestions at the cursor from the server, and tells it what was dismissed.

local M = {}

M.INVOKED, M.AUTOMATIC = 1, 2 -- InlineCompletionTriggerKind

---@class intarsia.Request a running request
---@field place string the text's version and the cursor's position
---@field position lsp.Position the cursor's
---@field cancel fun()

---Return the items that start in the cursor's line and end at the cursor, and their first column.
---@param buffer integer
---@param request intarsia.Request
---@param items table[]
---@return intarsia.Candidate[], integer?
local function read(buffer, request, items)
  local begin ---@type lsp.Position?
  local candidates = {}
  for _, item in ipairs(items) do
    local range = item.range or { start = request.position, ["end"] = request.position }
    begin = begin or range.start
    local is_here = begin.line == request.position.line
      and vim.deep_equal(range.start, begin)
      and vim.deep_equal(range["end"], request.position)
    if is_here and type(item.insertText) == "string" then
      table.insert(candidates, require("intarsia.candidate").read(item))
    end
  end
  return candidates, begin and select(2, require("intarsia.cursor").of_position(buffer, begin))
end

---Send the request. An unusable answer has no candidates.
---@param buffer integer the current one
---@param kind integer
---@param on_answer fun(request: intarsia.Request, candidates: intarsia.Candidate[], col?: integer)
---@return intarsia.Request?
function M.send(buffer, kind, on_answer)
  local client = require("intarsia.server").client(buffer)
  if not client then
    return nil
  end
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  params.context = { triggerKind = kind }
  ---@type intarsia.Request
  local request = {
    place = require("intarsia.cursor").place(buffer),
    position = params.position,
    cancel = function() end,
  }
  local is_sent, id = client:request("textDocument/inlineCompletion", params, function(_, result)
    if vim.api.nvim_get_current_buf() == buffer then
      on_answer(request, read(buffer, request, result and result.items or result or {}))
    end
  end, buffer)
  if not is_sent then
    return nil
  end
  request.cancel = function()
    client:cancel_request(id)
  end
  return request
end

---Tell the server that the user has dismissed what is shown at the cursor: LSP has no message for it.
---@param buffer integer the current one
function M.tell_dismissed(buffer)
  local client = require("intarsia.server").client(buffer)
  if client then
    local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
    client:notify("intarsia/dismissed", params)
  end
end

return M
