-- The selection that a command acts on: characters, lines, or a range of lines.

local cursor = require("intarsia.cursor")

local M = {}

---@class intarsia.Selection `last` is after the last byte; rows and columns from 0, in bytes
---@field first [integer, integer]
---@field last [integer, integer]

local BLOCK = "\22"
local NO_BLOCK = "a block cannot be filled: select characters (v) or lines (V)"

---Return whole lines without the first one's indentation, which stays.
---@param first integer from 1
---@param last integer from 1
---@return intarsia.Selection
local function of_lines(first, last)
  local indentation = #cursor.line_at(0, first - 1):match("^%s*")
  return { first = { first - 1, indentation }, last = { last - 1, #cursor.line_at(0, last - 1) } }
end

---@param from integer[] as getpos() gives it
---@param to integer[]
---@return intarsia.Selection
local function of_characters(from, to)
  if from[2] > to[2] or (from[2] == to[2] and from[3] > to[3]) then
    from, to = to, from
  end
  local line = cursor.line_at(0, to[2] - 1)
  local last_byte = math.min(to[3], #line + 1)
  if vim.o.selection == "exclusive" then
    last_byte = last_byte - 1
  elseif last_byte <= #line then
    last_byte = last_byte + vim.str_utf_end(line, last_byte)
  end
  local first_byte = math.min(from[3] - 1, #cursor.line_at(0, from[2] - 1))
  return { first = { from[2] - 1, first_byte }, last = { to[2] - 1, math.min(last_byte, #line) } }
end

---@param mode string
---@param from integer[]
---@param to integer[]
---@return intarsia.Selection? selection
---@return string? problem
local function of_visual(mode, from, to)
  if mode == BLOCK then
    return nil, NO_BLOCK
  elseif mode == "V" then
    return of_lines(math.min(from[2], to[2]), math.max(from[2], to[2]))
  end
  return of_characters(from, to)
end

---Return what a command with this range acts on; nil where it has no range.
---@param arguments { range: integer, line1: integer, line2: integer }
---@return intarsia.Selection? selection
---@return string? problem
function M.of_command(arguments)
  local mode = vim.api.nvim_get_mode().mode:sub(1, 1)
  if mode == "v" or mode == "V" or mode == BLOCK then -- by a <Cmd> mapping
    return of_visual(mode, vim.fn.getpos("v"), vim.fn.getpos("."))
  elseif arguments.range == 0 then
    return nil
  end
  local from, to = vim.fn.getpos("'<"), vim.fn.getpos("'>")
  local is_visual = arguments.range == 2 and from[2] == arguments.line1 and to[2] == arguments.line2
  if is_visual then
    return of_visual(vim.fn.visualmode(), from, to)
  end
  return of_lines(arguments.line1, arguments.line2)
end

---Return the cursor; after it in normal mode where it is on the last character of its line.
---@return intarsia.Selection # empty, at the cursor
function M.at_cursor()
  local row, col = cursor.position()
  local line = cursor.line_at(0, row)
  local is_inserting = vim.api.nvim_get_mode().mode:match("^n?i") ~= nil
  if not is_inserting and col < #line and col + 1 + vim.str_utf_end(line, col + 1) == #line then
    col = #line
  end
  return { first = { row, col }, last = { row, col } }
end

---@return intarsia.Selection # the cursor's line
function M.cursor_line()
  local row = vim.api.nvim_win_get_cursor(0)[1]
  return of_lines(row, row)
end

---@param selection intarsia.Selection
---@param encoding string
---@return lsp.Range
function M.as_range(selection, encoding)
  local function position(place)
    local character = vim.str_utfindex(cursor.line_at(0, place[1]), encoding, place[2], false)
    return { line = place[1], character = character }
  end
  return { start = position(selection.first), ["end"] = position(selection.last) }
end

return M
