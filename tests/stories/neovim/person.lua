-- What a person does in Neovim, for the scripts of tests/stories/neovim.rs. The functions print
-- what the person would see.

--- Waits until a condition holds, and returns its value.
local function await(what, condition)
  local found
  assert(vim.wait(60000, function()
    found = condition()
    return found
  end, 5), 'waited in vain for ' .. what)
  return found
end

local function client_for(method)
  return await('the server, for ' .. method, function()
    return vim.lsp.get_clients({ name = 'palazzo', bufnr = 0, method = method })[1]
  end)
end

--- Returns what the server answers about the cursor.
local function ask(method)
  local client = client_for(method)
  local position = vim.lsp.util.make_position_params(0, client.offset_encoding)
  local answer = assert(client:request_sync(method, position, 60000))
  assert(not answer.err, vim.inspect(answer.err))
  return answer.result
end

local function show(...)
  io.stdout:write(string.format(...), '\n')
end

local function place()
  local at = vim.api.nvim_win_get_cursor(0)
  local file = vim.fs.relpath(vim.fn.getcwd(), vim.api.nvim_buf_get_name(0))
  return ('%s:%d:%d'):format(file, at[1], at[2] + 1)
end

--- Opens a file, with all servers: `others` are those beside palazzo.
function open(file, others)
  vim.cmd('silent edit ' .. file)
  client_for('textDocument/rename')
  for _, name in ipairs(others or {}) do
    await(name, function()
      local client = vim.lsp.get_clients({ name = name, bufnr = 0 })[1]
      return client and client.initialized
    end)
  end
end

--- Puts the cursor at the sign ¦ of a text.
function cursor_at(marked)
  local before, after = unpack(vim.split(marked, '¦', { plain = true }))
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local start = line:find(before .. after, 1, true)
    if start then
      return vim.api.nvim_win_set_cursor(0, { number, start - 1 + #before })
    end
  end
  error('no line contains ' .. marked)
end

--- Adds lines at the end, with the cursor after the last.
function append(...)
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { ... })
  local count = vim.api.nvim_buf_line_count(0)
  local line = vim.api.nvim_buf_get_lines(0, count - 1, count, false)[1]
  vim.wo.virtualedit = 'onemore'
  vim.api.nvim_win_set_cursor(0, { count, #line })
end

--- Shows the findings of palazzo in this file as soon as there are `count`.
function show_findings(count)
  local found = await(count .. ' findings', function()
    local function is_ours(it) return it.source == 'palazzo' end
    local ours = vim.tbl_filter(is_ours, vim.diagnostic.get(0))
    return #ours == count and ours
  end)
  for _, it in ipairs(found) do
    show('%d:%d-%d: %s: %s', it.lnum + 1, it.col + 1, it.end_col + 1, it.code, it.message)
  end
end

function show_completions()
  local result = ask('textDocument/completion')
  for _, it in ipairs(result.items or result) do
    show('%s | %s', it.label, it.detail or '')
  end
end

function show_hover()
  show('%s', ask('textDocument/hover').contents.value)
end

function go_to_definition()
  client_for('textDocument/definition')
  local from = place()
  vim.lsp.buf.definition()
  await('a jump from ' .. from, function() return place() ~= from end)
  show('%s', place())
end

--- Applies the fix with this title, and saves all files.
function fix(title)
  local client = client_for('textDocument/codeAction')
  local params = vim.lsp.util.make_range_params(0, client.offset_encoding)
  params.context = { diagnostics = {} }
  local answer = assert(client:request_sync('textDocument/codeAction', params, 60000))
  for _, it in ipairs(answer.result) do
    if it.title == title then
      vim.lsp.util.apply_workspace_edit(it.edit, client.offset_encoding)
      return vim.cmd('silent wall')
    end
  end
  error('no fix is called ' .. title .. ': ' .. vim.inspect(answer.result))
end

--- Renames what is at the cursor, and saves all files.
function rename(new)
  client_for('textDocument/rename')
  local tick, from = vim.api.nvim_buf_get_changedtick(0), place()
  vim.lsp.buf.rename(new, { name = 'palazzo' })
  await('a rename to ' .. new, function()
    return vim.api.nvim_buf_get_changedtick(0) ~= tick or place() ~= from
  end)
  vim.cmd('silent wall')
end

--- Renames a file or folder as a file tree does: it asks the server first.
function rename_in_tree(from, to)
  local client = client_for('workspace/willRenameFiles')
  local function uri(path) return vim.uri_from_fname(vim.fn.getcwd() .. '/' .. path) end
  local params = { files = { { oldUri = uri(from), newUri = uri(to) } } }
  local answer = assert(client:request_sync('workspace/willRenameFiles', params, 60000))
  assert(not answer.err, vim.inspect(answer.err))
  assert(answer.result, 'the server does not know what is renamed')
  vim.lsp.util.apply_workspace_edit(answer.result, client.offset_encoding)
  vim.cmd('silent wall')
  vim.lsp.util.rename(from, to)
end
