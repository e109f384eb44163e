-- What is drawn, line by line: [gone], {come}, the mark, and whole new lines after a +; a ? is what
-- has another colour.

function drawn_next_edits()
  local space, drawn = vim.api.nvim_create_namespace('intarsia.next_edit'), {}
  local function words(chunks, group)
    return vim.iter(chunks):map(function(chunk)
      return (group and chunk[2] ~= group and '?' or '') .. chunk[1]
    end):join('')
  end
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, {details = true})) do
    local _, row, col, details = unpack(mark)
    local text = ''
    if details.virt_text then
      text = words(details.virt_text)
      if details.virt_text_pos == 'inline' then
        text = '{' .. words(details.virt_text, 'IntarsiaNextEditAdded') .. '}'
      end
    elseif details.virt_lines then
      text = '+' .. table.concat(vim.tbl_map(words, details.virt_lines), '+')
    elseif details.end_col then
      text = vim.api.nvim_buf_get_text(0, row, col, details.end_row, details.end_col, {})[1]
      text = (details.hl_group == 'IntarsiaNextEditRemoved' and '[' or '?[') .. text .. ']'
    end
    table.insert(drawn, (row + 1) .. ':' .. text)
  end
  return table.concat(drawn, ' ')
end
