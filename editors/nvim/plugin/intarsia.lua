-- The command :Intarsia and the autocommand for the server. All else is loaded when it is needed.

if vim.g.loaded_intarsia then
  return
end
vim.g.loaded_intarsia = true

vim.api.nvim_create_user_command("Intarsia", function(arguments)
  require("intarsia.command").run(arguments)
end, {
  nargs = "*",
  range = true,
  complete = function(lead, line)
    return require("intarsia.command").complete(lead, line)
  end,
  desc = "Fill holes in code with a diffusion language model",
})

vim.api.nvim_create_autocmd("LspAttach", {
  group = vim.api.nvim_create_augroup("intarsia", {}),
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == "intarsia" then
      require("intarsia.attach").attach(client, event.buf)
    end
  end,
})
