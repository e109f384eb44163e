-- Shows an edit's progress at its position until it has ended.

local M = {}

local namespace = vim.api.nvim_create_namespace("intarsia.progress")

---@class intarsia.Progress
---@field token string of the request
---@field finish fun() removes everything

---@param value { kind: string, title?: string, message?: string, percentage?: integer }
---@param title string
---@return string
local function in_words(value, title)
  local words = { title }
  if type(value.message) == "string" then
    table.insert(words, value.message)
  end
  if type(value.percentage) == "number" then
    table.insert(words, ("%d%%"):format(value.percentage))
  end
  return table.concat(words, " ")
end

---Begin to show the progress of an edit.
---@param client vim.lsp.Client
---@param buffer integer
---@param selection? intarsia.Selection nil: somewhere in the file
---@param title string
---@return intarsia.Progress
function M.begin(client, buffer, selection, title)
  local token = ("intarsia.edit.%d"):format(vim.uv.hrtime())
  local row = selection and selection.first[1] or vim.api.nvim_win_get_cursor(0)[1] - 1
  local mark ---@type integer?
  local function show(words)
    mark = vim.api.nvim_buf_set_extmark(buffer, namespace, row, 0, {
      id = mark,
      virt_text = { { words, "IntarsiaProgress" } },
      hl_mode = "combine",
    })
  end
  if selection and not vim.deep_equal(selection.first, selection.last) then
    vim.api.nvim_buf_set_extmark(buffer, namespace, selection.first[1], selection.first[2], {
      end_row = selection.last[1],
      end_col = selection.last[2],
      hl_group = "IntarsiaEdit",
    })
  end
  show(title .. " …")
  local listener = vim.api.nvim_create_autocmd("LspProgress", {
    callback = function(event)
      local params = event.data.params
      if event.data.client_id == client.id and params.token == token then
        show(in_words(params.value, title))
      end
    end,
  })
  return {
    token = token,
    finish = function()
      vim.api.nvim_del_autocmd(listener)
      if vim.api.nvim_buf_is_valid(buffer) then
        vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
      end
    end,
  }
end

return M
