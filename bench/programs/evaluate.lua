-- wrk -s evaluate.lua URL -- BODIES_FILE 'name: value' ...
-- Like predict.lua, but the file has one body per line, used in turn. Each request is built once.

dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "predict.lua")

local requests = {}
local turn = 0

function init(args)
  wrk.method = "POST"
  for index = 2, #args do
    local name, value = args[index]:match("^([^:]+):%s*(.*)$")
    wrk.headers[name] = value
  end
  for body in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format(nil, nil, nil, body)
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end
