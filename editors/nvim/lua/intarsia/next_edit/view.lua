-- Draws next edits: a quiet mark at each place, and the difference where one is shown.

local difference = require("intarsia.next_edit.difference")
local places = require("intarsia.next_edit.place")

local M = {}

local namespace = vim.api.nvim_create_namespace("intarsia.next_edit")
local MARK = "»"

---@class intarsia.NextEditDrawing
---@field edits intarsia.NextEdit[] in the order of lines
---@field shown? intarsia.NextEdit its difference is drawn
---@field next? intarsia.NextEdit the one that the key goes to
---@field words? string about the one on show, else about the row
---@field row? integer

---@param buffer integer
---@param row integer
---@param words string
local function mark(buffer, row, words)
  vim.api.nvim_buf_set_extmark(buffer, namespace, row, 0, {
    virt_text = { { " " .. words, "IntarsiaNextEdit" } },
    virt_text_pos = "eol",
    hl_mode = "combine",
  })
end

---@param buffer integer
---@param text string
---@return string # with tabs as blanks
local function plain(buffer, text)
  return (text:gsub("\t", (" "):rep(vim.bo[buffer].tabstop)))
end

---Draw whole new lines below or above a row.
---@param buffer integer
---@param row integer
---@param is_above boolean
---@param lines string[]
local function draw_block(buffer, row, is_above, lines)
  vim.api.nvim_buf_set_extmark(buffer, namespace, row, 0, {
    virt_lines = vim.tbl_map(function(line)
      return { { plain(buffer, line), "IntarsiaNextEditAdded" } }
    end, lines),
    virt_lines_above = is_above,
    virt_lines_overflow = "scroll",
  })
  if is_above and row == 0 and vim.fn.line("w0") == 1 then
    vim.fn.winrestview({ topline = 1, topfill = #lines }) -- else they are above the window
  end
end

---@param buffer integer the current one
---@param edit intarsia.NextEdit
local function draw_difference(buffer, edit)
  local place = places.of(buffer, edit)
  local found = difference.of(place.before, place.after)
  for _, removed in ipairs(found.removed) do
    vim.api.nvim_buf_set_extmark(buffer, namespace, place.first + removed.line, removed.start, {
      end_row = place.first + removed.line,
      end_col = removed.stop,
      hl_group = "IntarsiaNextEditRemoved",
      priority = 250, -- above the syntax
    })
  end
  for _, added in ipairs(found.added) do
    vim.api.nvim_buf_set_extmark(buffer, namespace, place.first + added.line, added.at, {
      virt_text = { { plain(buffer, added.text), "IntarsiaNextEditAdded" } },
      virt_text_pos = "inline",
    })
  end
  if #found.block > 0 then
    local num_removed = #found.removed
    local row = place.first + found.block_at + num_removed - 1
    local is_above = row < 0
    draw_block(buffer, math.max(0, row), is_above, found.block)
  end
end

---Draw in place of what is drawn.
---@param buffer integer
---@param drawing intarsia.NextEditDrawing
function M.draw(buffer, drawing)
  M.clear(buffer)
  local is_current = vim.api.nvim_get_current_buf() == buffer
  if drawing.words and not drawing.shown then
    mark(buffer, drawing.row, drawing.words)
  end
  for _, edit in ipairs(drawing.edits) do
    local row = places.rows(buffer, edit)
    local is_next = is_current and edit == drawing.next and not drawing.shown
    if is_next and (row + 1 < vim.fn.line("w0") or row + 1 > vim.fn.line("w$")) then
      local cursor = vim.api.nvim_win_get_cursor(0)[1] - 1
      mark(buffer, cursor, ("%s next edit in line %d"):format(MARK, row + 1))
      is_next = false
    end
    if edit == drawing.shown and is_current then
      draw_difference(buffer, edit)
      if drawing.words then
        mark(buffer, row, drawing.words)
      end
    else
      mark(buffer, row, is_next and MARK .. " next edit" or MARK)
    end
  end
end

---@param buffer integer
function M.clear(buffer)
  if vim.api.nvim_buf_is_loaded(buffer) then
    vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  end
end

return M
