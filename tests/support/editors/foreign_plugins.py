"""Neovim plugins of other projects, set up for our API; and what they draw."""

import json
from pathlib import Path

# What is drawn in any namespace of the plugins: lines joined by |, nil where nothing is.
GHOST_TEXT = """(function()
  local first, rest = {}, {}
  for name, space in pairs(vim.api.nvim_get_namespaces()) do
    if name == 'vt_fim' or name == 'minuet.virtualtext' then
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, {details = true})) do
        local text = mark[4].virt_text and mark[4].virt_text[1]
        if text and text[1] ~= '' then table.insert(first, text[1]) end
        for _, line in ipairs(mark[4].virt_lines or {}) do table.insert(rest, line[1][1]) end
      end
    end
  end
  return #first > 0 and table.concat(vim.list_extend(first, rest), '|') or nil
end)()"""

LLAMA_VIM = """
vim.g.llama_config = { endpoint_fim = '%(url)s/infill', show_info = 0, t_max_predict_ms = 60000 }
vim.opt.runtimepath:prepend(%(folder)s)
"""

MINUET = """
vim.opt.runtimepath:prepend(%(folder)s)
require('minuet').setup({
  provider = 'openai_fim_compatible',
  n_completions = 1,
  request_timeout = 60,
  throttle = 0,
  debounce = 50,
  virtualtext = { auto_trigger_ft = { 'python' }, keymap = { accept = '<A-A>' } },
  provider_options = {
    openai_fim_compatible = {
      name = 'intarsia',
      end_point = '%(url)s/v1/completions',
      api_key = 'PATH',
      model = 'intarsia',
    },
  },
})
"""


def init_of(init: str, plugin: Path, url: str) -> str:
    """Return an init.lua with the plugin in this folder, for the API at this address."""
    return init % {"folder": json.dumps(str(plugin)), "url": url}
