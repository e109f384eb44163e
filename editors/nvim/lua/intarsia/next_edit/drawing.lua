-- Draws the next edits of a buffer: a quiet mark at each place, the difference where one is shown,
-- and words on keys.

local cursor = require("intarsia.cursor")
local offers = require("intarsia.next_edit.offers")

local M = {}

M.RENAME_KEY = "grn" -- Neovim's own for a rename; a key of the offer on show

local namespace = vim.api.nvim_create_namespace("intarsia.next_edit")
local MARK = "»"

---Return words about a rename everywhere, where a key or the command does it.
---@param buffer integer
---@return string? words
---@return integer? row of the changed name, where they go while no offer is on show
local function hint(buffer)
  local state, rename = offers.states[buffer], offers.rename_in(buffer)
  local has_key = vim.api.nvim_get_mode().mode == "n" and state.has_rename_key
  local elsewhere = rename and rename.elsewhere
  if not rename or state.shown and not has_key or not state.shown and not elsewhere then
    return nil
  end
  local words = (has_key and M.RENAME_KEY or ":Intarsia nextedit rename") .. " renames everywhere"
  if elsewhere then
    local uses = elsewhere.uses == 1 and "1 use" or elsewhere.uses .. " uses"
    local files = elsewhere.files == 1 and "1 other file" or elsewhere.files .. " other files"
    words = ("%s, %s in %s"):format(words, uses, files)
  end
  return words, rename.position.line
end

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
---@return [string, string][] # with tabs as blanks
local function new_text(buffer, text)
  local blanks = (" "):rep(vim.bo[buffer].tabstop)
  return { { (text:gsub("\t", blanks)), "IntarsiaNextEditAdded" } }
end

---Draw whole new lines below a row, or above the first one.
---@param buffer integer
---@param row integer -1: above the first
---@param lines string[]
local function draw_block(buffer, row, lines)
  local is_above = row < 0
  vim.api.nvim_buf_set_extmark(buffer, namespace, math.max(0, row), 0, {
    virt_lines = vim.tbl_map(function(line)
      return new_text(buffer, line)
    end, lines),
    virt_lines_above = is_above,
    virt_lines_overflow = "scroll",
  })
  if is_above and vim.fn.line("w0") == 1 then
    vim.fn.winrestview({ topline = 1, topfill = #lines }) -- else they are above the window
  end
end

---@param buffer integer the current one
---@param edit intarsia.NextEdit
local function draw_difference(buffer, edit)
  -- What a search found hides a highlight, but no overlay.
  local is_searched = vim.v.hlsearch == 1 and vim.fn.getreg("/") ~= ""
  for _, range in ipairs(edit.difference.removed) do
    local row, col = cursor.of_position(buffer, range.start)
    local _, end_col = cursor.of_position(buffer, range["end"])
    local text = cursor.line_at(buffer, row):sub(col + 1, end_col)
    vim.api.nvim_buf_set_extmark(buffer, namespace, row, col, {
      end_row = row,
      end_col = end_col,
      hl_group = "IntarsiaNextEditRemoved",
      priority = 250, -- above the syntax
      virt_text = is_searched and not text:find("\t") and { { text, "IntarsiaNextEditRemoved" } }
        or nil,
      virt_text_pos = "overlay",
    })
  end
  for _, added in ipairs(edit.difference.added) do
    local row, col = cursor.of_position(buffer, added.position)
    vim.api.nvim_buf_set_extmark(buffer, namespace, row, col, {
      virt_text = new_text(buffer, added.text),
      virt_text_pos = "inline",
    })
  end
  if #edit.difference.block > 0 then
    local stop = edit.range["end"]
    draw_block(buffer, stop.character > 0 and stop.line or stop.line - 1, edit.difference.block)
  end
end

---Mark the offer that the key goes to; at the cursor where it is out of sight.
---@param buffer integer the current one
---@param row integer
local function mark_next(buffer, row)
  local is_visible = row + 1 >= vim.fn.line("w0") and row + 1 <= vim.fn.line("w$")
  if not is_visible then
    local here = vim.api.nvim_win_get_cursor(0)[1] - 1
    mark(buffer, here, ("%s next edit in line %d"):format(MARK, row + 1))
  end
  mark(buffer, row, is_visible and MARK .. " next edit" or MARK)
end

---Draw what is offered now.
---@param buffer integer
function M.draw(buffer)
  local state, edits = offers.states[buffer], offers.current(buffer)
  local is_moving = state.version
    and #state.edits > 0
    and state.version < (vim.lsp.util.buf_versions[buffer] or 0)
  if is_moving and not state.shown then
    return -- Neovim moves the marks, until the server has
  end
  M.clear(buffer)
  local words, row_of_words = hint(buffer)
  if words and not state.shown then
    mark(buffer, row_of_words --[[@as integer]], words)
  end
  local is_current = vim.api.nvim_get_current_buf() == buffer
  local elsewhere = is_current and offers.elsewhere(buffer)
  if elsewhere then
    local name = vim.fs.basename(vim.uri_to_fname(elsewhere.uri))
    local place = ("%s next edit in %s:%d"):format(MARK, name, elsewhere.range.start.line + 1)
    mark(buffer, vim.api.nvim_win_get_cursor(0)[1] - 1, place)
  end
  local next = is_current and not state.shown and offers.next_from_cursor(edits)
  for _, edit in ipairs(edits) do
    local row = offers.rows(buffer, edit)
    if edit == next then
      mark_next(buffer, row)
    elseif edit ~= state.shown or not is_current then
      mark(buffer, row, MARK)
    else
      draw_difference(buffer, edit)
      if words then
        mark(buffer, row, words)
      end
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
