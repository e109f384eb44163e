-- The options of setup: checked, and merged with the defaults.

local M = {}

---@class intarsia.Keys keys in insert mode, `next_edit` in normal mode too; false: not mapped
---@field accept? string|false accepts the whole ghost text
---@field accept_word? string|false its next word
---@field accept_line? string|false up to the end of its line
---@field accept_sure? string|false up to the first token that the model is unsure of
---@field next? string|false shows the next suggestion
---@field previous? string|false shows the previous one
---@field dismiss? string|false hides the ghost text, or dismisses the next edit on show
---@field next_edit? string|false shows the next edit, then applies it

---@class intarsia.ServerSettings see :help intarsia-settings
---@field enabled? boolean
---@field preload? boolean
---@field model? string
---@field decoding? "speculative"|"autoregressive"
---@field readAhead? boolean
---@field projectContext? boolean
---@field addImports? boolean
---@field fillAhead? "always"|"onPower"|"off"
---@field nextEdit? "off"|"sure"|"balanced"|"bold"
---@field warmStart? boolean
---@field debounceMs? integer
---@field deadlineMs? integer
---@field invokedDeadlineMs? integer
---@field maxCandidates? integer
---@field editCandidates? integer
---@field maxPrefixTokens? integer
---@field maxSuffixTokens? integer
---@field maxHoleTokens? integer
---@field disabledLanguages? string[]
---@field languages? table
---@field inComments? "never"|"documentation"|"always"
---@field inStrings? boolean
---@field overMenu? boolean
---@field onBattery? "same"|"slower"|"off"
---@field whenBusy? "same"|"slower"|"off"
---@field statistics? boolean
---@field exclude? string[]
---@field excludeSecrets? boolean
---@field showThreshold? string|integer
---@field drafts? boolean
---@field sureConfidence? number
---@field previewEdits? boolean
---@field holeMarks? string[]
---@field rewriteNoise? number

---@alias intarsia.SettingsOf fun(folder?: string): intarsia.ServerSettings?

---@class intarsia.Options
---@field cmd? string[] command of the server; by default it is searched for
---@field settings? intarsia.ServerSettings|intarsia.SettingsOf settings of the server
---@field keys? intarsia.Keys|false false: no key is mapped
---@field drafts? boolean show a suggestion while it settles
---@field completion? boolean items in the completion menu instead of ghost text
---@field native? boolean leave ghost text to vim.lsp.inline_completion (Neovim 0.12)

---@type intarsia.Options
local defaults = {
  settings = vim.empty_dict(),
  keys = {
    accept = "<M-l>",
    accept_word = "<M-w>",
    accept_line = "<M-j>",
    accept_sure = "<M-s>",
    next = "<M-n>",
    previous = "<M-p>",
    dismiss = "<M-e>",
    next_edit = "<M-g>",
  },
  drafts = true,
  completion = false,
  native = false,
}

local kinds = {
  cmd = { "table" },
  settings = { "table", "function" },
  keys = { "table", "boolean" },
  drafts = { "boolean" },
  completion = { "boolean" },
  native = { "boolean" },
}

M.current = defaults

---@param words any[]
---@return boolean
local function is_command(words)
  return #words > 0
    and vim.iter(words):all(function(word)
      return type(word) == "string"
    end)
end

---@param key any
---@return boolean
local function is_key(key)
  return key == false or (type(key) == "string" and key ~= "")
end

---Return one line for each option that cannot be used.
---@param given table<string, any>
---@return string[]
local function problems_of(given)
  local problems = {}
  for name, value in vim.spairs(given) do
    if not kinds[name] then
      local known = table.concat(vim.tbl_keys(kinds), ", ")
      table.insert(problems, ("unknown option %q; known are: %s"):format(name, known))
    elseif not vim.list_contains(kinds[name], type(value)) then
      table.insert(problems, ("option %q cannot be a %s"):format(name, type(value)))
    end
  end
  for name, key in vim.spairs(type(given.keys) == "table" and given.keys or {}) do
    if defaults.keys[name] == nil then
      local known = table.concat(vim.tbl_keys(defaults.keys), ", ")
      table.insert(problems, ("unknown key %q; known are: %s"):format(name, known))
    elseif not is_key(key) then
      table.insert(problems, ('key %q is a string such as "<M-l>", or false'):format(name))
    end
  end
  if type(given.cmd) == "table" and not is_command(given.cmd) then
    table.insert(problems, 'option "cmd" is a list such as { "/path/to/intarsia", "serve" }')
  end
  return problems
end

---Set the options; report those that cannot be used.
---@param given intarsia.Options
---@return intarsia.Options
function M.set(given)
  for _, problem in ipairs(problems_of(given)) do
    vim.notify("intarsia: " .. problem, vim.log.levels.ERROR)
  end
  local usable = {}
  for name, value in pairs(given) do
    if kinds[name] and vim.list_contains(kinds[name], type(value)) then
      usable[name] = value
    end
  end
  if usable.keys == true then
    usable.keys = nil
  elseif usable.keys then
    usable.keys = vim.iter(usable.keys):fold({}, function(keys, name, key)
      if defaults.keys[name] and is_key(key) then
        keys[name] = key
      end
      return keys
    end)
  end
  if usable.cmd and not is_command(usable.cmd) then
    usable.cmd = nil
  end
  M.current = vim.tbl_deep_extend("force", defaults, usable)
  return M.current
end

---Return the server's settings in an opened folder; those of all else without one.
---@param folder? string
---@return intarsia.ServerSettings
function M.settings(folder)
  local given = M.current.settings
  local found = given
  if type(given) == "function" then
    found = given(folder)
  end
  if found ~= nil and type(found) ~= "table" then
    vim.notify_once("intarsia: the function `settings` must return a table", vim.log.levels.ERROR)
    found = nil
  end
  return found or vim.empty_dict()
end

---Put the settings of folders into Neovim's answer to workspace/configuration.
---@param items lsp.ConfigurationItem[]
---@param answer any[]
---@return any[]
function M.of_folders(items, answer)
  if type(M.current.settings) == "function" then
    for index, item in ipairs(items) do
      if item.section == "intarsia" and item.scopeUri then
        answer[index] = M.settings(vim.uri_to_fname(item.scopeUri))
      end
    end
  end
  return answer
end

return M
