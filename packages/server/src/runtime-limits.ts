const maxOutgoingRequests = "65336";
const loopback = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Bun sends 256 requests at once unless told otherwise before it starts, and sends even loopback requests through a
 * configured proxy. Both are read from the environment at start only, so the process replaces itself, once, by one
 * that was started with the right values. Where the system cannot do that, the limits stay as they are.
 */
export function raiseRuntimeLimits(): void {
  if (process.env.BUN_CONFIG_MAX_HTTP_REQUESTS !== undefined || typeof process.execve !== "function") return;
  const noProxy = [process.env.NO_PROXY ?? process.env.no_proxy, ...loopback].filter(Boolean).join(",");
  const environment = {
    ...process.env,
    BUN_CONFIG_MAX_HTTP_REQUESTS: maxOutgoingRequests,
    NO_PROXY: noProxy,
    no_proxy: noProxy,
  };
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  const programAndArguments = isCompiled ? process.argv.slice(2) : process.argv.slice(1);
  process.execve(
    process.execPath,
    [process.execPath, ...process.execArgv, ...programAndArguments],
    environment,
  );
}
