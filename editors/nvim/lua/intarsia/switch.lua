-- Ghost text on, off, or off for a while.

local M = {}

local is_on = true
local timer ---@type uv.uv_timer_t? runs while paused

---@param on boolean
local function set(on)
  if timer and not timer:is_closing() then
    timer:close()
  end
  timer = nil
  is_on = on
  require("intarsia.ghost_text").update(vim.api.nvim_get_current_buf())
  require("intarsia.next_edit").update()
  require("intarsia.status").announce()
end

---@return boolean
function M.is_on()
  return is_on
end

---@return boolean
function M.is_paused()
  return timer ~= nil
end

function M.toggle()
  set(not is_on)
end

---Switch off, and on again after some minutes.
---@param minutes number
function M.pause(minutes)
  set(false)
  timer = vim.defer_fn(function()
    set(true)
  end, math.floor(minutes * 60000))
  require("intarsia.status").announce()
end

return M
