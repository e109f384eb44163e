-- Finds the server's command, its running client, and restarts it.

local M = {}

local NOT_FOUND = "intarsia: the command `intarsia` is not on the PATH (one in the working folder "
  .. 'is not run); put it there, or name it: require("intarsia").setup({ cmd = { "/path/to/.venv/bin/intarsia", "serve" } })'

---Return the program in the checkout that contains this plugin, if it has been set up. It may be
---in the working folder: so is this file, which runs.
---@return string?
local function checkout_program()
  local here = vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))
  local root = here and vim.fs.normalize(vim.fs.dirname(here) .. "/../../../..")
  local is_windows = vim.fn.has("win32") == 1
  local program = root
    and vim.fs.joinpath(root, ".venv", is_windows and "Scripts/intarsia.exe" or "bin/intarsia")
  return program and vim.fn.executable(program) == 1 and program or nil
end

---Return the command, with the full path of its program: the user's, else `intarsia` on the PATH,
---else the checkout's own.
---@return string[]?
function M.command()
  local find = require("intarsia.program").find
  local named = require("intarsia.options").current.cmd
  if named then
    local program = find(named[1])
    return program and { program, unpack(named, 2) } or nil
  end
  local program = find("intarsia") or checkout_program()
  return program and { program, "serve" } or nil
end

---Return the command line for another subcommand of the program, such as doctor.
---@param ... string
---@return string[]? # nil where the server's command does not end in `serve`
function M.sibling(...)
  local command = M.command()
  if command and command[#command] == "serve" then
    return vim.list_extend(vim.list_slice(command, 1, #command - 1), { ... })
  end
end

---Whether there is a server to start; if not, notify the user once.
---@return boolean
function M.is_found()
  if M.command() then
    return true
  end
  local named = require("intarsia.options").current.cmd
  local missing = named
    and ("intarsia: cannot run %q, the option `cmd`: give a full path"):format(named[1])
  vim.schedule(function() -- not inside the autocommand that opens a file
    vim.notify_once(missing or NOT_FOUND, vim.log.levels.ERROR)
  end)
  return false
end

---Return the running client, of this buffer if one is given.
---@param buffer? integer
---@return vim.lsp.Client?
function M.client(buffer)
  return vim.lsp.get_clients({ name = "intarsia", bufnr = buffer })[1]
end

-- A repository goes before a part of it with a manifest of its own.
local MARKERS = {
  { ".git", ".hg", ".jj", ".svn" },
  { "pyproject.toml", "package.json", "Cargo.toml", "go.mod", "pom.xml", "CMakeLists.txt" },
}

---Return the folder of a buffer's project, whose files the server indexes.
---
---It is the repository, else the folder of a manifest, else the file's own folder if that is below
---the user's home or Neovim's folder. Never a folder that holds the home.
---@param buffer integer
---@return string? # nil: the buffer has no file, or is alone
function M.root(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  if name == "" or name:find("^%a[%w+.-]+://") then
    return nil
  end
  local program = require("intarsia.program")
  for _, markers in ipairs(MARKERS) do
    local found = vim.fs.root(name, markers)
    if found and not program.holds_home(found) then
      return found
    end
  end
  local own = vim.fs.dirname(name)
  local plain = program.plain
  local is_users = vim.startswith(plain(own), plain(vim.uv.os_homedir() or "~"))
    or vim.startswith(plain(own), plain(vim.fn.getcwd()))
  return is_users and not program.holds_home(own) and own or nil
end

---Tell the server of a buffer's project, unless it knows it: one server serves all projects.
---@param client vim.lsp.Client
---@param buffer integer
function M.add_project(client, buffer)
  local root = M.root(buffer)
  if not root then
    return
  end
  local uri = vim.uri_from_fname(root)
  local folders = client.workspace_folders or {}
  local is_known = vim.iter(folders):any(function(folder)
    return folder.uri == uri
  end)
  if not is_known then
    local added = { { uri = uri, name = root } }
    client:notify("workspace/didChangeWorkspaceFolders", { event = { added = added, removed = {} } })
    client.workspace_folders = vim.list_extend(folders, added)
  end
end

---Restart the server; the engine keeps running.
function M.restart()
  local clients = vim.lsp.get_clients({ name = "intarsia" })
  for _, client in ipairs(clients) do
    client:stop()
  end
  local function check(waited_ms)
    local left = vim.tbl_filter(function(client)
      return vim.lsp.get_client_by_id(client.id) ~= nil
    end, clients)
    if #left == 0 then
      return vim.lsp.enable("intarsia")
    end
    for _, client in ipairs(waited_ms == 2000 and left or {}) do
      client:stop(true)
    end
    vim.defer_fn(function()
      check(waited_ms + 50)
    end, 50)
  end
  check(0)
end

return M
