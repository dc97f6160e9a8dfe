const loopback = ["127.0.0.1", "localhost", "[::1]"];

/** Keeps requests to this machine away from a configured proxy. Bun reads these variables at every request. */
export function bypassProxyForLoopback(): void {
  const excluded = (process.env.NO_PROXY ?? process.env.no_proxy ?? "").split(",").filter(Boolean);
  const noProxy = [...new Set([...excluded, ...loopback])].join(",");
  process.env.NO_PROXY = noProxy;
  process.env.no_proxy = noProxy;
}

/** How many requests Bun sends at a time unless BUN_CONFIG_MAX_HTTP_REQUESTS is set. */
export const defaultMaxHttpRequests = 256;

/** What Bun reads from the environment only when it starts. A value that is already set is left alone. */
const settings = {
  /** Maximum concurrent outgoing requests. */
  BUN_CONFIG_MAX_HTTP_REQUESTS: "65535",
  /**
   * In bytes. JavaScriptCore lets garbage grow with the machine's memory. With 288 MiB it collects earlier. It is
   * not a limit (docs/decisions/0049-hot-path.md).
   */
  BUN_JSC_forceRAMSize: "301989888",
};

/** Replaces this process, once, by one that starts with `settings`. Where the system has no `execve`, Bun's defaults apply. */
export function settleRuntime(): void {
  if (process.env.BUN_CONFIG_MAX_HTTP_REQUESTS !== undefined || typeof process.execve !== "function") return;
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  const programAndArguments = isCompiled ? process.argv.slice(2) : process.argv.slice(1);
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...programAndArguments], {
    ...settings,
    ...process.env,
  });
}

/** Configures the runtime for a command that sends more concurrent requests than Bun's default. */
export function settleRuntimeFor(concurrency: string): void {
  if (Number(concurrency) > defaultMaxHttpRequests) settleRuntime();
}
