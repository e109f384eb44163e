-- Finds programs outside of the working folder, and starts them outside of it: an opened folder
-- is data, so nothing in it is run or imported.

local M = {}

local IS_WINDOWS = vim.fn.has("win32") == 1

---Return a path without links, ending in a slash.
---@param path string
---@return string
function M.plain(path)
  local found = vim.fs.normalize(vim.uv.fs_realpath(path) or path)
  return vim.endswith(found, "/") and found or found .. "/"
end

---Whether a folder holds the user's home: who opens one file there does not mean all of it.
---@param folder string
---@return boolean
function M.holds_home(folder)
  return vim.startswith(M.plain(vim.uv.os_homedir() or "~"), M.plain(folder))
end

---Whether a path is in the working folder, by its name or by what it links to.
---@param path string
---@return boolean
local function is_in_working_folder(path)
  local here = vim.fn.getcwd()
  if M.holds_home(here) then
    return false -- no opened folder: the user's own programs are below it
  end
  local by_name = vim.startswith(vim.fs.normalize(path), vim.fs.normalize(here) .. "/")
  return by_name or vim.startswith(M.plain(path), M.plain(here))
end

---Return the full path of a program, nil where it may not be run or there is none.
---
---A name is looked up on the PATH, past relative folders and those inside the working folder. A
---path has to be a full one.
---@param name string
---@return string?
function M.find(name)
  if name:find("/", 1, true) or (IS_WINDOWS and name:find("\\", 1, true)) then
    local path = vim.fs.normalize(name)
    local is_usable = vim.fn.isabsolutepath(path) == 1 and vim.fn.executable(path) == 1
    return is_usable and path or nil
  end
  for folder in vim.gsplit(vim.env.PATH or "", IS_WINDOWS and ";" or ":", { plain = true }) do
    local is_absolute = vim.fn.isabsolutepath(folder) == 1
    local found = is_absolute and vim.fn.exepath(vim.fs.joinpath(folder, name)) or ""
    if found ~= "" and not is_in_working_folder(found) then
      return found
    end
  end
end

---Return a folder of the user's in which nothing is looked up.
---@return string
local function own_folder()
  local folder = vim.fn.stdpath("cache") --[[@as string]]
  pcall(vim.fn.mkdir, folder, "p")
  return vim.fn.isdirectory(folder) == 1 and folder or vim.fs.dirname(vim.fn.tempname())
end

---Return where and with which environment a program is started.
---
---Python searches its working folder where PYTHONPATH has an empty element, and relative ones
---would name other folders than the user meant.
---@return { cwd: string, env: table<string, string> }
function M.spawn_options()
  local parts = vim.split(vim.env.PYTHONPATH or "", IS_WINDOWS and ";" or ":", { plain = true })
  local kept = vim.tbl_filter(function(part)
    return vim.fn.isabsolutepath(part) == 1 and not is_in_working_folder(part .. "/")
  end, parts)
  local env = vim.env.PYTHONPATH and { PYTHONPATH = table.concat(kept, IS_WINDOWS and ";" or ":") }
  return { cwd = own_folder(), env = env or vim.empty_dict() }
end

return M
