-- Accepts ghost text, all of it or a part. It is inserted as if it were pasted: `.` repeats it with
-- the text typed around it, and `u` undoes only the accepted text and the imports that it brought.

local M = {}

local WORD = vim.regex([[^\_s*\%(\k\+\|\%(\k\@!\S\)\+\)]]) -- of 'iskeyword', or punctuation
local pending ---@type string? what is inserted next
local imports ---@type lsp.Command? adds what it needs

---Insert the accepted text; called by the keys that `take` presses.
function M.insert()
  local text, command = pending, imports
  pending, imports = nil, nil
  if text and command then
    require("intarsia.imports").add(vim.api.nvim_get_current_buf(), command, text)
  end
  if text then
    vim.api.nvim_paste(text, false, -1)
  end
end

local take
---Accept a part of the ghost text; while a draft is shown, accept it once the answer is there.
---@param part fun(rest: string, sure?: string): string
---@return boolean # whether there was anything to accept
function take(part)
  local ghost_text, buffer = require("intarsia.ghost_text"), vim.api.nvim_get_current_buf()
  local rest, sure, command = ghost_text.shown(buffer)
  if not rest then
    return ghost_text.on_answer(buffer, function()
      take(part)
    end)
  end
  pending = part(rest, sure)
  imports = command
  if pending ~= "" then
    local keys = "<C-g>u<Cmd>lua require('intarsia.accept').insert()<CR><C-g>u"
    vim.api.nvim_feedkeys(vim.keycode(keys), "in", false)
  end
  return true
end

---@return boolean # whether there was ghost text
function M.all()
  return take(function(rest)
    return rest
  end)
end

---@return boolean # whether there was ghost text
function M.word()
  return take(function(rest)
    local _, last = WORD:match_str(rest)
    return last and rest:sub(1, last) or rest
  end)
end

---@return boolean # whether there was ghost text
function M.line()
  return take(function(rest)
    return rest:match("^\n?[^\n]*")
  end)
end

---Accepts nothing where the next token is unsure.
---@return boolean # whether there was ghost text
function M.sure()
  return take(function(_, sure)
    return sure or ""
  end)
end

---Let the user choose among several suggestions at the cursor.
function M.choose()
  local buffer, request = vim.api.nvim_get_current_buf(), require("intarsia.request")
  local tick = vim.api.nvim_buf_get_changedtick(buffer)
  local row, col = require("intarsia.cursor").position()
  local function insert(candidate, start)
    if vim.api.nvim_buf_get_changedtick(buffer) ~= tick or not vim.bo[buffer].modifiable then
      vim.notify("intarsia: the text has changed, or cannot be: try again", vim.log.levels.WARN)
      return
    end
    local lines = vim.split(candidate.text, "\n")
    vim.api.nvim_buf_set_text(buffer, row, start or col, row, col, lines)
    local last = #lines == 1 and (start or col) + #lines[1] or #lines[#lines]
    vim.api.nvim_win_set_cursor(0, { row + #lines, last })
    if candidate.imports then
      require("intarsia.imports").add(buffer, candidate.imports, candidate.text)
    end
  end
  local sent = request.send(buffer, request.INVOKED, function(_, candidates, start)
    if #candidates == 0 then
      return vim.notify("intarsia: " .. require("intarsia.status").why())
    end
    vim.ui.select(candidates, {
      prompt = "intarsia: choose a suggestion",
      format_item = function(candidate)
        return (vim.trim(candidate.text):gsub("%s*\n%s*", " ⏎ "))
      end,
    }, function(candidate)
      if candidate then
        insert(candidate, start)
      end
    end)
  end)
  if not sent then
    vim.notify("intarsia: the server is not attached to this buffer", vim.log.levels.WARN)
  end
end

return M
