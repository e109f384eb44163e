-- How Neovim (0.11 or newer) runs the language server; found by vim.lsp.enable("intarsia").

---Declare the capabilities that decide how the server answers.
---@param capabilities lsp.ClientCapabilities
local function declare(capabilities)
  local options = require("intarsia.options")
  local in_menu = options.current.completion
  local is_drawn_here = not in_menu and not options.is_native()
  -- A client that shows ghost text gets no items in its completion menu, and the other way round.
  capabilities.textDocument.inlineCompletion = not in_menu and { dynamicRegistration = false }
    or nil
  capabilities.experimental = vim.tbl_extend("force", capabilities.experimental or {}, {
    intarsia = {
      drafts = is_drawn_here and options.current.drafts,
      confidence = is_drawn_here,
      status = true,
      nextEdits = true,
      members = true,
    },
  })
end

---@type vim.lsp.Config
return {
  cmd = function(dispatchers)
    local command = assert(require("intarsia.server").command())
    return vim.lsp.rpc.start(command, dispatchers, require("intarsia.program").spawn_options())
  end,
  root_dir = function(buffer, on_dir)
    if require("intarsia.server").is_found() then
      on_dir(require("intarsia.server").root(buffer))
    end
  end,
  -- One server for all files of this Neovim, in all folders.
  reuse_client = function(client, config)
    return client.name == config.name and not client:is_stopped()
  end,
  before_init = function(params)
    declare(params.capabilities)
  end,
  handlers = {
    ["intarsia/draft"] = function(_, draft)
      require("intarsia.ghost_text").show_draft(draft)
    end,
    ["intarsia/members"] = function(_, params)
      return require("intarsia.members").answer(params)
    end,
    ["intarsia/nextEdits"] = function(_, offered)
      require("intarsia.next_edit").receive(offered)
    end,
    ["intarsia/status"] = function(_, status)
      require("intarsia.status").receive(status)
    end,
    ["workspace/configuration"] = function(error, params, context)
      local answer = vim.lsp.handlers["workspace/configuration"](error, params, context)
      return require("intarsia.options").of_folders(params.items, answer)
    end,
    ["window/logMessage"] = function(error, message, context)
      require("intarsia.log").keep(message)
      return vim.lsp.handlers["window/logMessage"](error, message, context)
    end,
  },
  -- Settings of the server: debounceMs, decoding, model, …
  settings = { intarsia = vim.empty_dict() },
}
