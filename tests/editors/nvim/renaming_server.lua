-- A server in this process. It sees the text of its own documents, and renames whole words in all.

other_server = { answer = "rename", texts = {}, asked = {} }

local function renamed(uri, params, at_name)
  local edits = {}
  for row, line in ipairs(vim.split(other_server.texts[uri], "\n")) do
    local from = 1
    while true do
      local start, stop = line:find(at_name, from, true)
      if not start then break end
      local function units(byte) return vim.str_utfindex(line, "utf-16", byte, false) end
      table.insert(edits, {
        range = {
          start = { line = row - 1, character = units(start - 1) },
          ["end"] = { line = row - 1, character = units(stop) },
        },
        newText = params.newName,
      })
      from = stop + 1
    end
  end
  return edits
end

local function name_at(params)
  local lines = vim.split(other_server.texts[params.textDocument.uri], "\n")
  local line = lines[params.position.line + 1]
  local col = vim.str_byteindex(line, "utf-16", params.position.character, false)
  return line:sub(col + 1):match("^%w+")
end

local answers = {
  initialize = function()
    return {
      capabilities = { textDocumentSync = 1, renameProvider = other_server.answer ~= "incapable" },
    }
  end,
  ["textDocument/rename"] = function(params)
    table.insert(other_server.asked, other_server.texts[params.textDocument.uri])
    local how = other_server.answer
    if how == "nothing" then
      return nil
    elseif how == "fail" then
      return nil, { code = -32000, message = "this cannot be renamed" }
    elseif how == "here" then
      local range = { start = { line = 0, character = 4 }, ["end"] = { line = 0, character = 8 } }
      local edits = { { range = range, newText = params.newName } }
      local document = { uri = params.textDocument.uri }
      return { documentChanges = { { textDocument = document, edits = edits } } }
    elseif how == "elsewhere" then
      local range = { start = { line = 1, character = 0 }, ["end"] = { line = 1, character = 1 } }
      return { changes = { [params.textDocument.uri] = { { range = range, newText = "#" } } } }
    end
    local name, changes = name_at(params), {}
    for uri, text in pairs(other_server.texts) do
      changes[uri] = renamed(uri, params, name)
      if how == "whole file" then -- as jedi does
        local lines = vim.split(text, "\n")
        local last = { line = #lines, character = 0 }
        local range = { start = { line = 0, character = 0 }, ["end"] = last }
        changes[uri] = { { range = range, newText = (text:gsub(name, params.newName)) } }
      end
    end
    return { changes = changes }
  end,
}

local function cmd(dispatchers)
  local is_closing, last_id = false, 0
  return {
    request = function(method, params, callback)
      last_id = last_id + 1
      local id = last_id
      if method == "textDocument/rename" and other_server.answer == "never" then
        table.insert(other_server.asked, other_server.texts[params.textDocument.uri])
        other_server.release = function() callback(nil, nil) end
        return true, id
      end
      local result, problem
      if answers[method] then
        result, problem = answers[method](params)
      end
      vim.schedule(function() callback(problem, result) end)
      return true, id
    end,
    notify = function(method, params)
      if method == "textDocument/didOpen" then
        other_server.texts[params.textDocument.uri] = params.textDocument.text
      elseif method == "textDocument/didChange" then
        other_server.texts[params.textDocument.uri] = params.contentChanges[1].text
      elseif method == "exit" then
        is_closing = true
        dispatchers.on_exit(0, 15)
      end
      return true
    end,
    is_closing = function() return is_closing end,
    terminate = function() is_closing = true end,
  }
end

function start_other_server(answer)
  other_server.answer, other_server.texts, other_server.asked = answer, {}, {}
  return vim.lsp.start({ name = "other", cmd = cmd }, { bufnr = 0 })
end
