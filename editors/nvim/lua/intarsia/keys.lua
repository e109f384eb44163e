-- The keys, most of them in insert mode, in buffers that the server is attached to. Where a key has
-- nothing to do here, it does what it does elsewhere.

local M = {}

local MODES = { next_edit = { "n", "i" } } -- of the others: insert mode

---Return what the key does without this plugin, nil where it is not mapped.
---@param mode string
---@param key string
---@param earlier table its mapping before, from maparg()
---@return table?
local function other_mapping(mode, key, earlier)
  if earlier.buffer == 1 then
    return earlier
  end
  return vim.iter(vim.api.nvim_get_keymap(mode)):find(function(mapping)
    return vim.keycode(mapping.lhs) == vim.keycode(key)
  end)
end

---Press a key as if it were not mapped here.
---@param mode string
---@param key string
---@param earlier table
local function press(mode, key, earlier)
  local mapping = other_mapping(mode, key, earlier)
  if not mapping then
    -- An unmapped Alt key would end insert mode, even one pressed just too late.
    local is_alt = key:match("^<[MmAa]%-") ~= nil
    vim.api.nvim_feedkeys(is_alt and "" or vim.keycode(key), "in", false)
    return
  end
  local keys = mapping.rhs
  if mapping.callback then
    keys = mapping.callback()
  elseif mapping.expr == 1 then
    keys = vim.api.nvim_eval(mapping.rhs)
  end
  if mapping.callback and mapping.expr == 0 or not keys then
    return
  end
  if mapping.expr == 0 or mapping.replace_keycodes == 1 then
    keys = vim.keycode(keys)
  end
  vim.api.nvim_feedkeys(keys, mapping.noremap == 1 and "in" or "im", false)
end

---Map a key of the options.
---@param buffer integer
---@param mode string
---@param name string
---@param key string
local function map(buffer, mode, name, key)
  local earlier = vim.api.nvim_buf_call(buffer, function()
    return vim.fn.maparg(key, mode, false, true)
  end)
  if earlier.desc ~= "intarsia: " .. name then
    vim.keymap.set(mode, key, function()
      if not require("intarsia")[name]() then
        press(mode, key, earlier)
      end
    end, { buffer = buffer, desc = "intarsia: " .. name })
  end
end

---Return the modes that a key is mapped in.
---@param name string
---@return string[]
function M.modes(name)
  return MODES[name] or { "i" }
end

---Map the keys of the options in a buffer.
---@param buffer integer
---@param names? string[] only these
function M.map(buffer, names)
  for name, key in pairs(require("intarsia.options").current.keys or {}) do
    if key and (not names or vim.list_contains(names, name)) then
      for _, mode in ipairs(M.modes(name)) do
        map(buffer, mode, name, key)
      end
    end
  end
end

---Map a key in normal mode for a while, unless the buffer has a mapping of its own.
---@param buffer integer
---@param key string
---@param act fun()
---@param desc string
---@return fun()? # removes the mapping
function M.map_for_now(buffer, key, act, desc)
  local earlier = vim.api.nvim_buf_call(buffer, function()
    return vim.fn.maparg(key, "n", false, true)
  end)
  if not require("intarsia.options").current.keys or earlier.buffer == 1 then
    return nil
  end
  vim.keymap.set("n", key, act, { buffer = buffer, desc = "intarsia: " .. desc })
  return function()
    pcall(vim.keymap.del, "n", key, { buffer = buffer })
  end
end

return M
