-- Compares the lines of a place with those that are offered: within a line where lines pair up, as
-- whole lines otherwise.

local M = {}

local MIN_ALIKE = 0.35 -- lines with less in common are replaced as a whole

---@class intarsia.Removed columns in bytes from 0, `stop` is after the last one
---@field line integer from 0, within the place
---@field start integer
---@field stop integer

---@class intarsia.Added
---@field line integer
---@field at integer
---@field text string

---@class intarsia.Difference
---@field removed intarsia.Removed[]
---@field added intarsia.Added[]
---@field block string[] new lines without an old line of their own
---@field block_at integer the old line that the block takes the place of, or goes before

---@diagnostic disable-next-line: deprecated
local diff = vim.text and vim.text.diff or vim.diff -- until 0.12

---Break a line into words, runs of blanks, and other characters.
---@param line string
---@return string[]
local function tokens_of(line)
  local tokens, at = {}, 1
  while at <= #line do
    local stop = select(2, line:find("^[%w_\128-\255]+", at))
      or select(2, line:find("^%s+", at))
      or at
    table.insert(tokens, line:sub(at, stop))
    at = stop + 1
  end
  return tokens
end

---Replace all but the indentation.
---@param index integer
---@param before string
---@param after string
---@param to intarsia.Difference
local function replace_line(index, before, after, to)
  local start = #before:match("^%s*")
  if before:sub(1, start) ~= after:match("^%s*") then
    start = 0
  end
  if start < #before then
    table.insert(to.removed, { line = index, start = start, stop = #before })
  end
  if start < #after then
    table.insert(to.added, { line = index, at = #before, text = after:sub(start + 1) })
  end
end

---@param tokens string[]
---@param first integer
---@param last integer
---@return string
local function joined(tokens, first, last)
  return table.concat(tokens, "", first, last)
end

---@param index integer
---@param before string
---@param after string
---@param to intarsia.Difference
local function compare_line(index, before, after, to)
  local one, other = tokens_of(before), tokens_of(after)
  local hunks = diff(
    table.concat(one, "\n") .. "\n",
    table.concat(other, "\n") .. "\n",
    { result_type = "indices", algorithm = "minimal" }
  ) --[[@as integer[][] ]]
  local removed, added, num_removed = {}, {}, 0
  for _, hunk in ipairs(hunks) do
    local start, count, new_start, new_count = unpack(hunk)
    -- Of an empty side, the start is the token before.
    local from = count > 0 and start or start + 1
    local column = #joined(one, 1, from - 1)
    local gone = joined(one, from, from + count - 1)
    if count > 0 then
      table.insert(removed, { line = index, start = column, stop = column + #gone })
      num_removed = num_removed + #vim.trim(gone)
    end
    if new_count > 0 then
      local come = joined(other, new_start, new_start + new_count - 1)
      table.insert(added, { line = index, at = column + #gone, text = come })
    end
  end
  local num_alike = #vim.trim(before) - num_removed
  if num_alike < MIN_ALIKE * math.max(#vim.trim(before), #vim.trim(after)) then
    replace_line(index, before, after, to)
  else
    vim.list_extend(to.removed, removed)
    vim.list_extend(to.added, added)
  end
end

---Return how to draw that the new lines replace the old ones.
---@param before string[]
---@param after string[]
---@return intarsia.Difference
function M.of(before, after)
  local result = { removed = {}, added = {}, block = {}, block_at = 0 }
  if #before == #after then
    for index, line in ipairs(before) do
      if line ~= after[index] then
        compare_line(index - 1, line, after[index], result)
      end
    end
    return result
  end
  local shorter = math.min(#before, #after)
  local top = 0
  while top < shorter and before[top + 1] == after[top + 1] do
    top = top + 1
  end
  local bottom = 0
  while bottom < shorter - top and before[#before - bottom] == after[#after - bottom] do
    bottom = bottom + 1
  end
  for index = top + 1, #before - bottom do
    local line = before[index]
    local start = #line:match("^%s*")
    table.insert(result.removed, { line = index - 1, start = start, stop = #line })
  end
  result.block = vim.list_slice(after, top + 1, #after - bottom)
  result.block_at = top
  return result
end

return M
