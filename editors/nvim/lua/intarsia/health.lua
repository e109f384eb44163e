-- :checkhealth intarsia

local M = {}

local DOCTOR_MS = 60000
local REPORTS = { ok = vim.health.ok, note = vim.health.warn, missing = vim.health.error }

local function check_neovim()
  vim.health.start("intarsia: Neovim")
  if vim.fn.has("nvim-0.11") == 0 then
    vim.health.error("Neovim 0.11 or newer is needed", "Update Neovim")
  else
    vim.health.ok(("Neovim %s, plugin %s"):format(vim.version(), require("intarsia.version")))
  end
  local options = require("intarsia.options").current
  if options.completion then
    vim.health.info("Suggestions are items in the completion menu (option `completion`)")
  elseif require("intarsia.options").is_native() then
    vim.health.info("Ghost text is drawn by vim.lsp.inline_completion (option `native`)")
  else
    vim.health.ok("Ghost text is drawn by the plugin")
  end
end

---@param client vim.lsp.Client
local function check_client(client)
  local plugin, server = require("intarsia.version"), vim.tbl_get(client, "server_info", "version")
  if server == plugin then
    vim.health.ok("server " .. server)
  else
    local message = ("server %s, but plugin %s"):format(server or "unknown", plugin)
    vim.health.warn(message, "Install both in the same version")
  end
  local num_buffers = vim.tbl_count(client.attached_buffers)
  vim.health.ok(("attached to %d buffer(s), client %d"):format(num_buffers, client.id))
  local status = require("intarsia.status").info()
  if status and status.state == "failed" then
    vim.health.error(status.message or "the engine has failed")
  elseif status then
    vim.health.ok(("engine %s, model %s"):format(status.state, status.model or "not loaded yet"))
  end
end

local function check_server()
  vim.health.start("intarsia: server")
  local command = require("intarsia.server").command()
  if command then
    vim.health.ok("command: " .. table.concat(command, " "))
  else
    vim.health.error(
      "the command `intarsia` is not found",
      'Put it on the PATH, or name it: require("intarsia").setup({ cmd = { … } })'
    )
  end
  local client = require("intarsia.server").client()
  if client then
    check_client(client)
  elseif not vim.lsp.is_enabled("intarsia") then
    vim.health.warn("not enabled", 'Call require("intarsia").setup()')
  else
    vim.health.info("not running: it starts with the first file that has a 'filetype'")
  end
end

---Report what a key does in a buffer that the server is attached to.
---@param name string
---@param key string
---@param mode string
---@param buffer? integer
local function check_key(name, key, mode, buffer)
  local mapping = buffer
    and vim.api.nvim_buf_call(buffer, function()
      return vim.fn.maparg(key, mode, false, true)
    end)
  local is_ours = mapping and mapping.desc == "intarsia: " .. name
  local other = vim.iter(vim.api.nvim_get_keymap(mode)):find(function(global)
    return vim.keycode(global.lhs) == vim.keycode(key)
  end)
  local where = mode == "n" and ", normal mode" or ""
  if mapping and not is_ours and not vim.tbl_isempty(mapping) then
    vim.health.warn(("%s (%s%s) is mapped to something else"):format(key, name, where))
  elseif other then
    local message = "%s (%s%s) does what it did before where nothing is shown"
    vim.health.info(message:format(key, name, where))
  else
    vim.health.ok(("%s: %s%s"):format(key, name, where))
  end
end

local function check_keys()
  vim.health.start("intarsia: keys")
  local keys = require("intarsia.options").current.keys
  local client = require("intarsia.server").client()
  local buffer = client and next(client.attached_buffers)
  for name, key in vim.spairs(keys or {}) do
    for _, mode in ipairs(key and require("intarsia.keys").modes(name) or {}) do
      check_key(name, key, mode, buffer)
    end
  end
  if not keys then
    vim.health.info("none are mapped (option `keys`)")
  end
end

---Report what `intarsia doctor` finds about model, memory and engine.
local function check_machine()
  local command = require("intarsia.server").sibling("doctor")
  if not command then
    return
  end
  vim.health.start("intarsia: machine")
  local is_run, done = pcall(function()
    local started = require("intarsia.program").spawn_options()
    local options = { text = true, cwd = started.cwd, env = started.env }
    return vim.system(vim.list_extend(command, { "--json" }), options):wait(DOCTOR_MS)
  end)
  for line in vim.gsplit(is_run and done.stdout or "", "\n", { trimempty = true }) do
    local is_json, finding = pcall(vim.json.decode, line, { luanil = { object = true } })
    local report = is_json and REPORTS[finding.state]
    if report then
      report(("%s: %s"):format(finding.name, finding.found), finding.advice)
    end
  end
  if not is_run or done.stdout == "" then
    local why = is_run and done.stderr or tostring(done)
    vim.health.error("`intarsia doctor` does not run: " .. vim.trim(why))
  end
end

function M.check()
  check_neovim()
  check_server()
  check_keys()
  check_machine()
end

return M
