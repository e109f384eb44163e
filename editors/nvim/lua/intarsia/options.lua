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
---@field automatic? boolean
---@field preload? boolean
---@field model? string
---@field device? "auto"|"cpu"|"cuda"|"mps"
---@field quantize? "auto"|"none"|"fp8"|"int4"
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
  return #words > 0 and vim.iter(words):all(function(word)
    return type(word) == "string"
  end)
end

---Return the keys that can be used.
---@param given table<string, any>
---@param report fun(format: string, ...: any)
---@return table<string, string|false>
local function usable_keys(given, report)
  local keys = {}
  for name, key in vim.spairs(given) do
    if defaults.keys[name] == nil then
      local known = table.concat(vim.tbl_keys(defaults.keys), ", ")
      report("unknown key %q; known are: %s", name, known)
    elseif key ~= false and (type(key) ~= "string" or key == "") then
      report('key %q is a string such as "<M-l>", or false', name)
    else
      keys[name] = key
    end
  end
  return keys
end

---Set the options; report those that cannot be used.
---@param given intarsia.Options
---@return intarsia.Options
function M.set(given)
  local function report(format, ...)
    vim.notify("intarsia: " .. format:format(...), vim.log.levels.ERROR)
  end
  local usable = {}
  for name, value in vim.spairs(given) do
    if not kinds[name] then
      local known = table.concat(vim.tbl_keys(kinds), ", ")
      report("unknown option %q; known are: %s", name, known)
    elseif not vim.list_contains(kinds[name], type(value)) then
      report("option %q cannot be a %s", name, type(value))
    elseif name == "cmd" and not is_command(value) then
      report('option "cmd" is a list such as { "/path/to/intarsia", "serve" }')
    elseif name == "keys" and type(value) == "table" then
      usable.keys = usable_keys(value, report)
    elseif name ~= "keys" or value == false then -- true: the defaults
      usable[name] = value
    end
  end
  M.current = vim.tbl_deep_extend("force", defaults, usable)
  return M.current
end

---Whether Neovim's own inline completion (0.12) draws the ghost text.
---@return boolean
function M.is_native()
  return M.current.native and vim.lsp.inline_completion ~= nil
end

---Return the server's settings in an opened folder; those of all else without one.
---@param folder? string
---@return intarsia.ServerSettings
function M.settings(folder)
  local found = M.current.settings
  if type(found) == "function" then
    found = found(folder)
  end
  if found ~= nil and type(found) ~= "table" then
    vim.notify_once("intarsia: the function `settings` must return a table", vim.log.levels.ERROR)
    found = nil
  end
  return found or vim.empty_dict()
end

---Change a setting of the server until Neovim ends.
---@param name string
---@param value any vim.NIL: its default
function M.change(name, value)
  local before = M.current.settings
  local function changed(settings)
    return vim.tbl_extend("force", settings or {}, { [name] = value })
  end
  M.current.settings = type(before) == "function" and function(folder)
    return changed(before(folder))
  end or changed(before)
  local settings = { intarsia = M.settings() }
  vim.lsp.config("intarsia", { settings = settings })
  local client = require("intarsia.server").client()
  if client then
    client.settings = settings
    client:notify("workspace/didChangeConfiguration", { settings = settings })
  end
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
