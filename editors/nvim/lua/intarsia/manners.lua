-- What only the editor sees of a moment that is not for ghost text: an open menu, a snippet's places.
-- What a change of the text tells, the server sees itself.

local M = {}

---Whether Neovim or a plugin has a menu of completions open.
---@return boolean
local function has_menu()
  local cmp, blink = package.loaded["cmp"], package.loaded["blink.cmp"]
  return vim.fn.pumvisible() == 1
    or (cmp ~= nil and type(cmp.visible) == "function" and cmp.visible())
    or (blink ~= nil and type(blink.is_menu_visible) == "function" and blink.is_menu_visible())
end

---@return boolean
local function has_snippet()
  local luasnip = package.loaded["luasnip"]
  return (vim.snippet ~= nil and vim.snippet.active())
    or (luasnip ~= nil and type(luasnip.in_snippet) == "function" and luasnip.in_snippet())
end

---Whether a word is selected in the menu: it is in the text, and may be replaced by the next one.
---@return boolean
function M.is_word_selected()
  return vim.fn.pumvisible() == 1 and vim.fn.complete_info({ "selected" }).selected >= 0
end

---Whether the user fills a snippet's places or looks at a menu, and wants no ghost text beside it.
---@return boolean
function M.is_occupied()
  local wants_over_menu = require("intarsia.options").settings().overMenu
  return has_snippet() or (not wants_over_menu and has_menu())
end

return M
