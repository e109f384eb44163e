-- A revised draft comes, of a text so much newer and at this column: how many requests are sent?

local version_ahead, column = ...
local buffer = vim.api.nvim_get_current_buf()
local request, num_sent = require("intarsia.request"), 0
local send = request.send
request.send = function(...)
  num_sent = num_sent + 1
  return send(...)
end
local row = vim.api.nvim_win_get_cursor(0)[1] - 1
local place = { line = row, character = column }
require("intarsia.ghost_text").show_draft({
  textDocument = {
    uri = vim.uri_from_bufnr(buffer),
    version = vim.lsp.util.buf_versions[buffer] + version_ahead,
  },
  range = { start = place, ["end"] = place },
  step = 0,
  tokens = {},
  revised = true,
})
request.send = send
return num_sent
