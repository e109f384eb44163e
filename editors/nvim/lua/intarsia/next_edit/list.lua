-- A list of all next edits of a buffer, to untick some and apply the others at once.

local M = {}

local MAX_WIDTH = 100
local HELP = "Space ticks, Enter applies, q closes"

---@param edit intarsia.NextEdit
---@param is_ticked boolean
---@return string
local function label(edit, is_ticked)
  local lines = vim.split(vim.trim(edit.newText), "\n")
  local text = edit.newText == "" and "(delete)" or vim.trim(lines[1])
  local more = #lines > 1 and " …" or ""
  local box = is_ticked and "[x]" or "[ ]"
  return ("%s line %d: %s%s"):format(box, edit.range.start.line + 1, text, more)
end

---@param rename intarsia.Rename
---@return string
local function rename_label(rename)
  return ("Rename %s → %s everywhere"):format(rename.oldName, rename.newName)
end

---Open a window below the cursor with these lines.
---@param lines string[]
---@return integer buffer, integer window
local function open_window(lines)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "wipe"
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
  local width = vim.api.nvim_strwidth(HELP) + 2
  for _, line in ipairs(lines) do
    width = math.max(width, vim.api.nvim_strwidth(line))
  end
  local window = vim.api.nvim_open_win(buffer, true, {
    relative = "cursor",
    row = 1,
    col = 0,
    width = math.min(width, MAX_WIDTH, vim.o.columns - 4),
    height = math.min(#lines, math.max(1, vim.o.lines - 6)),
    style = "minimal",
    border = "rounded",
    title = " Next edits ",
    footer = (" %s "):format(HELP),
  })
  vim.wo[window].cursorline = true
  return buffer, window
end

---Open the list on the current buffer's offers, all of them ticked.
---@return boolean # whether there are any
function M.open()
  local next_edit = require("intarsia.next_edit")
  local target, edits = vim.api.nvim_get_current_buf(), next_edit.offers()
  if #edits == 0 then
    return false
  end
  local rename = next_edit.rename()
  local num_above = rename and 1 or 0
  vim.cmd.stopinsert()
  local is_unticked = {} ---@type table<integer, boolean> by the number of the edit
  local function lines()
    local labels = { rename and rename_label(rename) }
    for index, edit in ipairs(edits) do
      table.insert(labels, label(edit, not is_unticked[index]))
    end
    return labels
  end
  local version = vim.lsp.util.buf_versions[target]
  local buffer, window = open_window(lines())
  local function close()
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
  end
  local function map(key, act, desc)
    vim.keymap.set("n", key, act, { buffer = buffer, nowait = true, desc = "intarsia: " .. desc })
  end
  map("<Space>", function()
    local row = vim.api.nvim_win_get_cursor(window)[1]
    local index = row - num_above
    is_unticked[index] = not is_unticked[index]
    vim.bo[buffer].modifiable = true
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines())
    vim.bo[buffer].modifiable = false
    vim.api.nvim_win_set_cursor(window, { math.min(row + 1, #edits + num_above), 0 })
  end, "tick or untick")
  map("<CR>", function()
    local is_rename = rename and vim.api.nvim_win_get_cursor(window)[1] == 1
    close()
    local chosen = {}
    for index, edit in ipairs(edits) do
      table.insert(chosen, not is_unticked[index] and edit or nil)
    end
    local is_same = vim.api.nvim_get_current_buf() == target
      and vim.lsp.util.buf_versions[target] == version
    if is_rename and is_same and next_edit.rename_everywhere() then
      return
    end
    if is_rename or #chosen > 0 and not (is_same and next_edit.apply(chosen)) then
      vim.notify("intarsia: the text has changed, so nothing was replaced", vim.log.levels.WARN)
    end
  end, "apply what is ticked, or rename")
  map("q", close, "close")
  map("<Esc>", close, "close")
  return true
end

return M
