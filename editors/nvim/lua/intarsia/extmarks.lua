-- Draws virtual text at a position of a buffer: its first line inline, the others below.

local M = {}

local namespace = vim.api.nvim_create_namespace("intarsia")
local count_namespace = vim.api.nvim_create_namespace("intarsia.count")
local MARK_ID = 1 -- one mark, changed in place, so that nothing flickers

---Break runs of text at line ends.
---@param runs [string, string][] text and highlight group
---@return [string, string][][]
function M.split(runs)
  local lines = { {} }
  for _, run in ipairs(runs) do
    for number, part in ipairs(vim.split(run[1], "\n", { plain = true })) do
      if number > 1 then
        table.insert(lines, {})
      end
      if part ~= "" then
        table.insert(lines[#lines], { part, run[2] })
      end
    end
  end
  return lines
end

---Return the line with its tabs as blanks, as wide as they would be from this column on.
---@param line [string, string][]
---@param column integer of the first character on the screen, from 0
---@return [string, string][]
local function without_tabs(line, column)
  return vim.tbl_map(function(run)
    local text = run[1]:gsub("[^\t]*\t?", function(part)
      local width = vim.fn.strdisplaywidth(part, column)
      column = column + width
      local plain, num_tabs = part:gsub("\t", "")
      return plain .. (" "):rep(num_tabs > 0 and width - vim.api.nvim_strwidth(plain) or 0)
    end)
    return { text, run[2] }
  end, line)
end

local MIN_NOTE = 12

---Return a note as wide as there is room behind the line and what is drawn at its end.
---@param note string
---@param width integer of line and drawing, which may wrap
---@return string
local function shortened(note, width)
  local window = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1]
  local columns = window.width - window.textoff
  local room = math.max(columns - width % columns - 1, MIN_NOTE)
  if vim.api.nvim_strwidth(note) <= room then
    return note
  end
  return vim.fn.strcharpart(note, 0, room - 1) .. "…"
end

---Draw the lines; they replace those drawn before.
---@param buffer integer the current one
---@param row integer
---@param col integer
---@param lines [string, string][][]
---@param count? string such as (2/3)
function M.draw(buffer, row, col, lines, count)
  local line = require("intarsia.cursor").line_at(buffer, row)
  local first = without_tabs(lines[1], vim.fn.strdisplaywidth(line:sub(1, col)))
  local below = vim.tbl_map(function(new)
    local drawn = without_tabs(new, 0)
    return #drawn > 0 and drawn or { { "", "IntarsiaGhostText" } }
  end, vim.list_slice(lines, 2))
  vim.api.nvim_buf_set_extmark(buffer, namespace, row, col, {
    id = MARK_ID,
    virt_text = #first > 0 and first or { { "", "IntarsiaGhostText" } },
    virt_text_pos = "inline",
    virt_lines = #below > 0 and below or nil,
    virt_lines_overflow = "scroll",
  })
  if count then
    local width = vim.fn.strdisplaywidth(line)
    for _, run in ipairs(first) do
      width = width + vim.api.nvim_strwidth(run[1])
    end
    vim.api.nvim_buf_set_extmark(buffer, count_namespace, row, 0, {
      id = MARK_ID,
      virt_text = { { shortened(count, width), "IntarsiaCount" } },
      virt_text_pos = "eol",
      hl_mode = "combine",
    })
  else
    vim.api.nvim_buf_del_extmark(buffer, count_namespace, MARK_ID)
  end
end

---Remove all that is drawn.
---@param buffer integer
function M.clear(buffer)
  if vim.api.nvim_buf_is_loaded(buffer) then
    vim.api.nvim_buf_del_extmark(buffer, namespace, MARK_ID)
    vim.api.nvim_buf_del_extmark(buffer, count_namespace, MARK_ID)
  end
end

return M
