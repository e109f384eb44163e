-- Everything that is drawn or taken away, in order.

_G.drawn = {}
local set, delete = vim.api.nvim_buf_set_extmark, vim.api.nvim_buf_del_extmark
vim.api.nvim_buf_set_extmark = function(buffer, namespace, row, col, options)
  if namespace == vim.api.nvim_create_namespace("intarsia") then
    local texts = vim.tbl_map(function(chunk) return chunk[1] end, options.virt_text)
    table.insert(_G.drawn, table.concat(texts))
  end
  return set(buffer, namespace, row, col, options)
end
vim.api.nvim_buf_del_extmark = function(buffer, namespace, id)
  if namespace == vim.api.nvim_create_namespace("intarsia") then
    table.insert(_G.drawn, false)
  end
  return delete(buffer, namespace, id)
end
