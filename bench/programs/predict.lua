-- wrk -s predict.lua URL -- BODY_FILE 'name: value' ...
-- The request is built once (wrk formats it after init), so the script costs nothing while the load runs.

-- With ports in BENCH_PORTS, one for each thread, each thread's connections go to its own.
local ports = (os.getenv("BENCH_PORTS") or ""):gmatch("%d+")

function setup(thread)
  local port = ports()
  if port then thread.addr = wrk.lookup(wrk.host, port)[1] end
end

function init(args)
  wrk.method = "POST"
  local file = assert(io.open(args[1], "rb"))
  wrk.body = file:read("*a")
  file:close()
  for index = 2, #args do
    local name, value = args[index]:match("^([^:]+):%s*(.*)$")
    wrk.headers[name] = value
  end
end

-- On standard error, because wrk writes its own report to standard output.
function done(summary, latency, requests)
  local errors = summary.errors
  io.stderr:write(string.format(
    '{"durationUs":%d,"requests":%d,"p50Us":%d,"p90Us":%d,"p99Us":%d,"maxUs":%d,' ..
    '"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d}}\n',
    summary.duration, summary.requests,
    latency:percentile(50), latency:percentile(90), latency:percentile(99), latency.max,
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
