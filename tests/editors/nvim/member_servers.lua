-- Other servers in this process, each with one answer; and what they were asked, our server told.

asked, told = {}, {}

function start_other_server(name, result, encoding)
  local function cmd(dispatchers)
    local is_closing, last_id = false, 0
    return {
      request = function(method, params, callback)
        last_id = last_id + 1
        if method == "initialize" then
          callback(nil, { capabilities = {
            completionProvider = vim.empty_dict(), positionEncoding = encoding,
          } })
        elseif method == "textDocument/completion" then
          table.insert(asked, params)
          if result ~= "never" then
            callback(result == "fail" and { code = -32000, message = "no" } or nil, result)
          end
        else
          callback(nil, vim.NIL)
        end
        return true, last_id
      end,
      notify = function() return true end,
      is_closing = function() return is_closing end,
      terminate = function()
        is_closing = true
        dispatchers.on_exit(0, 15)
      end,
    }
  end
  vim.lsp.start({ name = name, cmd = cmd }, { bufnr = 0 })
end
