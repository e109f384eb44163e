-- The server's status, for a status line and for :Intarsia status.

local M = {}

---@class intarsia.Status as in the notification intarsia/status
---@field state "off"|"starting"|"loading"|"ready"|"working"|"failed"
---@field model? string
---@field message? string
---@field progress? number
---@field last? intarsia.LastRequest
---@field told? string[] the last request in words

---@class intarsia.LastRequest the last answered request
---@field uri string
---@field shown boolean
---@field reason? string why nothing was shown
---@field unsure boolean a text was hidden as improbable
---@field ms? number of the engine

local last ---@type intarsia.Status?

---Trigger the autocommand for a changed status.
function M.announce()
  vim.api.nvim_exec_autocmds("User", { pattern = "IntarsiaStatus", data = M.info() })
end

---@param value any
---@return any # the same without vim.NIL
local function without_null(value)
  if type(value) ~= "table" then
    return value
  end
  local plain = {}
  for name, part in pairs(value) do
    if part ~= vim.NIL then
      plain[name] = without_null(part) -- false stays
    end
  end
  return plain
end

---@param status intarsia.Status
function M.receive(status)
  last = without_null(status)
  M.announce()
end

---@return intarsia.Status? # nil before the first status, and after the server has ended
function M.info()
  return require("intarsia.server").client() and last or nil
end

---Whether the last request was of this buffer, and its text was hidden as improbable.
---@param request? intarsia.LastRequest
---@return boolean
local function is_unsure(request)
  local is_typing = vim.api.nvim_get_mode().mode:find("^i") ~= nil
  return request ~= nil
    and request.unsure
    and is_typing
    and request.uri == vim.uri_from_bufnr(vim.api.nvim_get_current_buf())
end

---@param status intarsia.Status?
---@return string
local function in_a_few_words(status)
  if not require("intarsia.switch").is_on() then
    return require("intarsia.switch").is_paused() and "paused" or "off"
  elseif not status or status.state == "off" then
    return "idle"
  elseif status.state == "loading" and status.progress then
    return ("loading %d%%"):format(100 * status.progress)
  elseif status.state ~= "ready" then
    return status.state
  end
  local request = status.last
  if is_unsure(request) then
    local keys = require("intarsia.options").current.keys
    local key = keys and keys.next
    return key and "unsure: " .. key:gsub("[<>]", "") .. " shows it" or "unsure"
  elseif request and request.shown and request.ms then
    return ("%d ms"):format(request.ms)
  end
  return "ready"
end

---Return a few words for a status line; empty where the server is not attached.
---@return string
function M.line()
  if not require("intarsia.server").client(vim.api.nvim_get_current_buf()) then
    return ""
  end
  return "intarsia: " .. in_a_few_words(M.info())
end

---Return why the last request showed nothing, or that it was answered.
---@return string
function M.why()
  if not require("intarsia.server").client(vim.api.nvim_get_current_buf()) then
    return "the server is not attached to this buffer (see :checkhealth intarsia)"
  elseif not require("intarsia.switch").is_on() then
    return "ghost text is switched off (:Intarsia toggle)"
  end
  local status = M.info()
  local request = status and status.last
  if status and status.state == "failed" then
    return status.message or "the engine has failed"
  elseif not request then
    return "there was no request yet"
  end
  return request.shown and "the last request has been answered"
    or request.reason
    or "no reason given"
end

---Return the whole status in lines.
---@return string[]
function M.lines()
  local status = M.info() or {}
  return vim.list_extend({
    "intarsia: " .. in_a_few_words(M.info()),
    "model: " .. (status.model or "not loaded yet"),
    status.message and "engine: " .. status.message,
  }, status.told or {})
end

return M
