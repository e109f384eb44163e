-- One suggestion: its text, and the model's confidence in its tokens.

local M = {}

---@class intarsia.Candidate
---@field text string with \n at line ends
---@field sure string the start of the text up to the first unsure token
---@field tokens intarsia.Token[] the texts joined are the text
---@field imports? lsp.Command adds the imports that the text needs

---@class intarsia.Token
---@field text string
---@field confidence number

local SURE_CONFIDENCE = 0.7 -- the server's default of the option sureConfidence

---@param text string
---@return string
function M.with_plain_ends(text)
  return (text:gsub("\r\n?", "\n"))
end

---Read an item of textDocument/inlineCompletion.
---@param item table
---@return intarsia.Candidate
function M.read(item)
  local text = M.with_plain_ends(item.insertText)
  local more = item.intarsia or {}
  local tokens, joined = {}, {}
  for _, token in ipairs(more.tokens or {}) do
    local plain = token.text:gsub("\r", "")
    table.insert(joined, plain)
    table.insert(tokens, { text = plain, confidence = token.confidence })
  end
  if table.concat(joined) ~= text then
    tokens = { { text = text, confidence = 1 } }
  end
  return {
    text = text,
    sure = M.with_plain_ends(more.sure or text),
    tokens = tokens,
    imports = item.command,
  }
end

---Return the rest of a text after a typed start of it; nil where it does not start so or is typed.
---@param text string
---@param typed string
---@return string?
function M.rest(text, typed)
  if #typed < #text and vim.startswith(text, typed) then
    return text:sub(#typed + 1)
  end
end

---Return the rest of a candidate as runs of text, each of one highlight group.
---@param candidate intarsia.Candidate
---@param typed string
---@return [string, string][]
function M.runs(candidate, typed)
  local settings = require("intarsia.options").settings()
  local limit = settings.sureConfidence or SURE_CONFIDENCE
  local runs, num_typed = {}, #typed
  for _, token in ipairs(candidate.tokens) do
    local rest = token.text:sub(num_typed + 1)
    num_typed = math.max(0, num_typed - #token.text)
    local group = token.confidence < limit and "IntarsiaUnsure" or "IntarsiaGhostText"
    local last = runs[#runs]
    if last and last[2] == group then
      last[1] = last[1] .. rest
    elseif rest ~= "" then
      table.insert(runs, { rest, group })
    end
  end
  return runs
end

return M
