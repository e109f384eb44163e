-- A suggestion while it settles: settled tokens as text, the others as dots.
-- While one request runs, its lines never get narrower or fewer, so that nothing flickers.

local M = {}

local MARK = "·"

---@class intarsia.Draft as in the notification intarsia/draft
---@field textDocument { uri: string, version: integer }
---@field range lsp.Range
---@field step integer
---@field tokens { text: string, confidence: number?, settled: boolean }[]
---@field revised? boolean the answer that was given there has become this one

---Return dots as wide as the text; blanks and line ends stay.
---@param text string
---@return string
local function marked(text)
  return (
    text:gsub("[^%s\128-\191][\128-\191]*", function(character)
      return MARK:rep(vim.api.nvim_strwidth(character))
    end)
  )
end

---Return the draft's lines as runs of text, each of one highlight group.
---@param draft intarsia.Draft
---@param widths integer[] of the lines drawn before; updated in place
---@return [string, string][][]
function M.lines(draft, widths)
  local runs, num_settled_lines, is_beginning = {}, 0, true
  for _, token in ipairs(draft.tokens) do
    local text = token.text:gsub("\r", "")
    is_beginning = is_beginning and token.settled
    if is_beginning then
      num_settled_lines = num_settled_lines + select(2, text:gsub("\n", ""))
    end
    local group = token.settled and "IntarsiaGhostText" or "IntarsiaDraft"
    table.insert(runs, { token.settled and text or marked(text), group })
  end
  local lines = require("intarsia.extmarks").split(runs)
  for number = num_settled_lines + 1, math.max(#lines, #widths) do
    lines[number] = lines[number] or {}
    local missing = (widths[number] or 0) - M.width(lines[number])
    if missing > 0 then
      table.insert(lines[number], { MARK:rep(missing), "IntarsiaDraft" })
    end
    widths[number] = M.width(lines[number])
  end
  return lines
end

---@param line [string, string][]
---@return integer # in cells
function M.width(line)
  return vim.iter(line):fold(0, function(sum, run)
    return sum + vim.api.nvim_strwidth(run[1])
  end)
end

return M
