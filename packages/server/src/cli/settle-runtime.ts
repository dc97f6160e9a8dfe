const loopback = ["127.0.0.1", "localhost", "[::1]"];

/** What Bun reads from the environment at its start only. Each is left alone where somebody has set it. */
const settings = {
  /** Requests to the upstream at once; Bun's own limit is 256. */
  BUN_CONFIG_MAX_HTTP_REQUESTS: "65335",
  /**
   * In bytes. JavaScriptCore lets garbage grow with the machine's memory. Told of 192 MiB, it collects earlier: 5,000
   * waiting predictions take a third less memory, for 4 % more instructions. It is no limit (docs/decisions/0004-speed.md).
   */
  BUN_JSC_forceRAMSize: "201326592",
};

/**
 * Settles what must be settled before Bun starts: the process replaces itself, once, by one that was started with the
 * right environment. Loopback is kept out of a configured proxy on the way. Where the system cannot do that, Bun's
 * own settings stay.
 */
export function settleRuntime(): void {
  if (process.env.BUN_CONFIG_MAX_HTTP_REQUESTS !== undefined || typeof process.execve !== "function") return;
  const noProxy = [process.env.NO_PROXY ?? process.env.no_proxy, ...loopback].filter(Boolean).join(",");
  const environment = { ...settings, ...process.env, NO_PROXY: noProxy, no_proxy: noProxy };
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  const programAndArguments = isCompiled ? process.argv.slice(2) : process.argv.slice(1);
  process.execve(
    process.execPath,
    [process.execPath, ...process.execArgv, ...programAndArguments],
    environment,
  );
}
