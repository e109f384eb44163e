-- The functions that users call. Each loads its modules when it is called.

local M = {}

---@param step 1|-1
---@return boolean
local function cycle(step)
  if require("intarsia.options").is_native() then
    vim.lsp.inline_completion.select({ count = step })
    return true
  end
  return require("intarsia.ghost_text").cycle(step)
end

---Set options, all of them optional, and start the server for every file.
---@param options? intarsia.Options
function M.setup(options)
  require("intarsia.options").set(options or {})
  vim.cmd.runtime("plugin/intarsia.lua") -- for plugin managers that add this folder late
  vim.lsp.config("intarsia", {
    settings = { intarsia = require("intarsia.options").settings() },
  })
  vim.lsp.enable("intarsia")
end

---Accept the whole ghost text.
---@return boolean # whether there was one
function M.accept()
  if require("intarsia.options").is_native() then
    return vim.lsp.inline_completion.get()
  end
  return require("intarsia.accept").all()
end

---Accept the next word of the ghost text.
---@return boolean # whether there was one
function M.accept_word()
  return require("intarsia.accept").word()
end

---Accept the ghost text up to the end of its line.
---@return boolean # whether there was one
function M.accept_line()
  return require("intarsia.accept").line()
end

---Accept the ghost text up to the first token that the model is unsure of.
---@return boolean # whether there was one
function M.accept_sure()
  return require("intarsia.accept").sure()
end

---Show the next suggestion; the first time, several are requested.
---@return boolean # whether the server is attached here
function M.next()
  return cycle(1)
end

---Show the previous suggestion; the first time, several are requested.
---@return boolean # whether the server is attached here
function M.previous()
  return cycle(-1)
end

---Hide the ghost text until something is typed; without one, dismiss the next edit on show.
---@return boolean # whether there was one
function M.dismiss()
  return require("intarsia.ghost_text").dismiss() or M.dismiss_next_edit()
end

---Go to the next edit and show what it changes; apply the one on show, and go to the next one.
---@return boolean # whether there was one
function M.next_edit()
  return require("intarsia.next_edit").next()
end

---Dismiss the next edit on show: its place stays silent.
---@return boolean # whether there was one
function M.dismiss_next_edit()
  return require("intarsia.next_edit").dismiss()
end

---List all next edits of the buffer, to apply them at once but for those that are unticked.
---@return boolean # whether there was one
function M.apply_next_edits()
  return require("intarsia.next_edit.list").open()
end

---Have another language server rename everywhere what the last edit began to rename; next edits
---say where it is possible.
---@return boolean # whether there was such a rename
function M.rename_everywhere()
  return require("intarsia.next_edit").rename_everywhere()
end

---Whether next edits are offered in this buffer.
---@return boolean
function M.has_next_edit()
  return #require("intarsia.next_edit").offers() > 0
end

---Whether ghost text is shown at the cursor.
---@return boolean
function M.is_shown()
  return require("intarsia.ghost_text").shown(vim.api.nvim_get_current_buf()) ~= nil
end

---Switch ghost text off, or on again.
function M.toggle()
  require("intarsia.switch").toggle()
end

---Return a few words for a status line; empty where the server is not attached.
---@return string
function M.status()
  return require("intarsia.status").line()
end

---Return the server's last status, as in the notification intarsia/status.
---@return intarsia.Status?
function M.info()
  return require("intarsia.status").info()
end

return M
