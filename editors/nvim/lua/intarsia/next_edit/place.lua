-- Where an offered change is in a buffer: its lines, and the least of them that changes.

local M = {}

---@class intarsia.Place rows from 0, `last` is after the last one
---@field first integer
---@field last integer
---@field before string[] the lines there now
---@field after string[] the lines that are offered for them

---@param text string
---@return string[]
local function lines_of(text)
  local lines = vim.split(text, "\r?\n")
  if lines[#lines] == "" then
    table.remove(lines)
  end
  return lines
end

---@param buffer integer
---@param edit intarsia.NextEdit
---@return intarsia.Place
function M.of(buffer, edit)
  local first, stop = edit.range.start.line, edit.range["end"]
  local last = stop.character > 0 and stop.line + 1 or stop.line
  return {
    first = first,
    last = last,
    before = vim.api.nvim_buf_get_lines(buffer, first, last, false),
    after = lines_of(edit.newText),
  }
end

---Return the first and the last row that show a place; of an insertion, the one that it goes before.
---@param buffer integer
---@param edit intarsia.NextEdit
---@return integer first, integer last from 0
function M.rows(buffer, edit)
  local place = M.of(buffer, edit)
  local most = vim.api.nvim_buf_line_count(buffer) - 1
  return math.min(place.first, most), math.min(math.max(place.first, place.last - 1), most)
end

---Return how many bytes both texts begin with, no character cut.
---@param one string
---@param other string
---@return integer
local function common_start(one, other)
  local length = 0
  while length < #one and one:byte(length + 1) == other:byte(length + 1) do
    length = length + 1
  end
  if length < #one then
    length = length + vim.str_utf_start(one, length + 1)
  end
  return length
end

---Return the first position that differs.
---@param place intarsia.Place
---@return integer row, integer col from 0, in bytes
function M.start_of(place)
  for index, line in ipairs(place.before) do
    local other = place.after[index] or ""
    if line ~= other then
      return place.first + index - 1, common_start(line, other)
    end
  end
  return place.first, 0
end

---Return the end of what has changed, once the offer is applied.
---@param place intarsia.Place
---@return integer row, integer col from 0, in bytes
function M.end_of(place)
  local num_before, num_after = #place.before, #place.after
  local back = 0 -- lines at the end that stay
  while
    back < math.min(num_before, num_after)
    and place.before[num_before - back] == place.after[num_after - back]
  do
    back = back + 1
  end
  local line = place.after[num_after - back]
  if not line then
    return place.first, 0
  end
  local old = num_before == num_after and place.before[num_before - back] or ""
  local length = #line
  while
    #old > 0
    and length > 0
    and line:byte(length) == old:byte(#old)
    and length > common_start(line, place.before[num_after - back])
  do
    length, old = length - 1, old:sub(1, -2)
  end
  if length < #line then
    length = length + vim.str_utf_start(line, length + 1)
  end
  return place.first + num_after - back - 1, length
end

return M
