-- Tells our server which members the other language servers of a buffer know after a dot.

local M = {}

local METHOD = "textDocument/completion"
local INVOKED = 1 -- CompletionTriggerKind

local Kind = vim.lsp.protocol.CompletionItemKind
local ANYWHERE = {} -- kinds of what is offered anywhere: words of the text, files, whole statements
for _, name in ipairs({ "Text", "Snippet", "File", "Folder", "Reference", "Color" }) do
  ANYWHERE[Kind[name]] = true
end

---Return the names that one server offers, without parameters; none where no member is among them.
---@param items lsp.CompletionItem[]
---@return string[]
local function names_of(items)
  local names, has_member = {}, false
  for _, item in ipairs(items) do
    if not ANYWHERE[item.kind or Kind.Text] then
      table.insert(names, (tostring(item.label):match("^[%a_$\128-\255][%w_$\128-\255]*")))
      has_member = has_member or item.kind ~= Kind.Keyword -- which may be offered anywhere
    end
  end
  return has_member and names or {}
end

---Answer our server's request, in a coroutine that waits for the other servers.
---@param params { textDocument: lsp.VersionedTextDocumentIdentifier, position: lsp.Position }
---@return { names: string[], isIncomplete: boolean }|vim.NIL # NIL for another version of the text
function M.answer(params)
  local buffer = vim.uri_to_bufnr(params.textDocument.uri)
  if vim.lsp.util.buf_versions[buffer] ~= params.textDocument.version then
    return vim.NIL
  end
  local row, col = require("intarsia.cursor").of_position(buffer, params.position)
  local line = require("intarsia.cursor").line_at(buffer, row)
  local answer = { names = {}, isIncomplete = false }
  local waiting, num_waited = coroutine.running(), 0
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buffer, method = METHOD })) do
    local character = vim.str_utfindex(line, client.offset_encoding, col, false)
    local question = {
      textDocument = { uri = params.textDocument.uri },
      position = { line = row, character = character },
      context = { triggerKind = INVOKED },
    }
    local is_sent = client.name ~= "intarsia"
      and client:request(METHOD, question, function(_, result)
        num_waited = num_waited - 1
        local names = type(result) == "table" and names_of(result.items or result) or {}
        vim.list_extend(answer.names, names)
        answer.isIncomplete = answer.isIncomplete or (#names > 0 and result.isIncomplete == true)
        if num_waited == 0 then
          coroutine.resume(waiting)
        end
      end, buffer)
    num_waited = num_waited + (is_sent and 1 or 0)
  end
  if num_waited > 0 then
    coroutine.yield()
  end
  return #answer.names > 0 and answer or vim.NIL
end

return M
