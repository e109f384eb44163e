-- The command :Intarsia and its subcommands.

local M = {}

local PAUSE_MINUTES = 10

---@class intarsia.Subcommand
---@field run fun(words: string[], arguments: table)
---@field values? string[] offered as its argument

---@param message string
local function fail(message)
  vim.notify("intarsia: " .. message, vim.log.levels.ERROR)
end

---Edit the command's selection, else the one that `otherwise` returns.
---@param arguments table
---@param otherwise fun(): intarsia.Selection?
---@param kind "fill"|"fillAll"|"rewrite"|"instruct"|"document"
---@param options? { noise?: number, instruction?: string }
local function edit(arguments, otherwise, kind, options)
  local selection, problem = require("intarsia.selection").of_command(arguments)
  if problem then
    return fail(problem)
  end
  require("intarsia.edit").start(kind, selection or otherwise(), options)
end

---@param module string
---@param name string
---@return intarsia.Subcommand # calls a function of a module
local function calling(module, name)
  return {
    run = function()
      require("intarsia." .. module)[name]()
    end,
  }
end

---Run something with a command line of the server's program, and how to start it.
---@param words string[]
---@param act fun(command: string[], options: table)
local function with_program(words, act)
  local command = require("intarsia.server").sibling(unpack(words))
  if not command then
    return fail("the server's program is not found (see :checkhealth intarsia)")
  end
  act(command, require("intarsia.program").spawn_options())
end

-- Functions for users, by the word after `nextedit`.
local NEXT_EDIT = {
  [""] = "next_edit",
  all = "apply_next_edits",
  dismiss = "dismiss_next_edit",
  rename = "rename_everywhere",
}

---@type table<string, intarsia.Subcommand>
local subcommands = {
  status = {
    run = function()
      vim.api.nvim_echo({ { table.concat(require("intarsia.status").lines(), "\n") } }, false, {})
    end,
  },
  fill = {
    run = function(_, arguments)
      edit(arguments, require("intarsia.selection").at_cursor, "fill")
    end,
  },
  docstring = {
    run = function(_, arguments)
      edit(arguments, require("intarsia.selection").at_cursor, "document")
    end,
  },
  fillall = {
    run = function(_, arguments)
      edit(arguments, function() end, "fillAll")
    end,
  },
  rewrite = {
    values = { "0.3", "0.5", "0.8" },
    run = function(words, arguments)
      local noise = tonumber(words[1])
      if words[1] and not (noise and noise > 0 and noise <= 1) then
        return fail(("the noise of a rewrite is above 0 and up to 1, not %q"):format(words[1]))
      end
      edit(arguments, require("intarsia.selection").cursor_line, "rewrite", { noise = noise })
    end,
  },
  instruct = {
    run = function(words, arguments)
      local instruction = table.concat(words, " ")
      if instruction == "" then
        return fail("say what is to be changed, as in :'<,'>Intarsia instruct make it async")
      end
      local options = { instruction = instruction }
      edit(arguments, require("intarsia.selection").cursor_line, "instruct", options)
    end,
  },
  cancel = calling("edit", "cancel"),
  choose = calling("accept", "choose"),
  nextedit = {
    values = { "all", "dismiss", "rename" },
    run = function(words)
      local act = NEXT_EDIT[words[1] or ""]
      if not act then
        local message = "a next edit can be shown, dismissed, renamed, or all; not %q"
        return fail(message:format(words[1]))
      end
      if not require("intarsia")[act]() then
        local what = words[1] == "rename" and "nothing to rename everywhere" or "no next edit"
        vim.notify(("intarsia: there is %s here now"):format(what))
      end
    end,
  },
  toggle = {
    run = function()
      require("intarsia.switch").toggle()
      local is_on = require("intarsia.switch").is_on()
      vim.notify("intarsia: ghost text is " .. (is_on and "on" or "off"))
    end,
  },
  pause = {
    values = { "5", "15", "60" },
    run = function(words)
      local minutes = tonumber(words[1] or PAUSE_MINUTES)
      if not (minutes and minutes > 0) then
        return fail(("a pause is a number of minutes, not %q"):format(words[1]))
      end
      require("intarsia.switch").pause(minutes)
      local unit = minutes == 1 and "minute" or "minutes"
      vim.notify(("intarsia: no ghost text for %s %s"):format(minutes, unit))
    end,
  },
  manual = {
    run = function()
      local options = require("intarsia.options")
      local is_automatic = options.settings().automatic ~= false
      options.change("automatic", not is_automatic)
      vim.notify("intarsia: suggests " .. (is_automatic and "only when asked" or "by itself again"))
    end,
  },
  model = {
    run = function(words)
      if words[1] then
        return require("intarsia.options").change("model", words[1])
      end
      with_program({ "models", "--json" }, function(command, options)
        local done = vim.system(command, options):wait()
        if done.code ~= 0 then
          return fail((vim.trim(done.stderr):gsub("^intarsia: ", "")))
        end
        vim.ui.select(vim.tbl_map(vim.json.decode, vim.split(vim.trim(done.stdout), "\n")), {
          prompt = "intarsia: choose the model, until Neovim ends",
          format_item = function(choice)
            return ("%s (%s; %s)"):format(choice.label, choice.description, choice.detail)
          end,
        }, function(choice)
          if choice then
            require("intarsia.options").change("model", choice.model)
          end
        end)
      end)
    end,
  },
  stats = {
    run = function()
      with_program({ "status", "--stats" }, function(command, options)
        vim.cmd("botright 20new")
        vim.fn.jobstart(command, vim.tbl_extend("error", options, { term = true }))
      end)
    end,
  },
  log = calling("log", "show"),
  why = {
    run = function()
      vim.notify("intarsia: " .. require("intarsia.status").why())
    end,
  },
  context = calling("seen_context", "show"),
  restart = calling("server", "restart"),
}

subcommands.snooze = subcommands.pause

---@return string[]
local function names()
  local sorted = vim.tbl_keys(subcommands)
  table.sort(sorted)
  return sorted
end

---@param arguments table as nvim_create_user_command gives them
function M.run(arguments)
  local words = vim.list_slice(arguments.fargs)
  local name = table.remove(words, 1) or "status"
  local subcommand = subcommands[name]
  if not subcommand then
    return fail(("unknown command %q; commands are: %s"):format(name, table.concat(names(), ", ")))
  end
  subcommand.run(words, arguments)
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local subcommand = line:match("Intarsia%s+(%S+)%s")
  local completions = names()
  if subcommand then
    completions = subcommands[subcommand] and subcommands[subcommand].values or {}
  end
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, completions)
end

return M
