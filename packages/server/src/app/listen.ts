import { dlopen } from "bun:ffi";
import { readdirSync } from "node:fs";
import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { idleTimeoutS } from "../http/call.ts";
import { isOpenAiPath, openAiError } from "../http/errors.ts";
import { type SocketEvents, socketHandler } from "../http/sockets.ts";
import type { App } from "./routes.ts";

/** How many connections the kernel may hold until they are accepted; the kernel caps it at net.core.somaxconn. */
const backlog = 4096;
/** Linux's constants, the same on every processor that Bun runs on. */
const solSocket = 1;
const soAcceptConn = 30;

const openLibrary = () =>
  dlopen("libc.so.6", {
    getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
    listen: { args: ["i32", "i32"], returns: "i32" },
  });
/** Kept, because compiling its functions takes longer than the rest of listening. */
let library: ReturnType<typeof openLibrary> | undefined;

/**
 * Lets the kernel hold more new connections than the 512 that Bun asks for: trainers open thousands at the same time, and the excess
 * is reset after seconds. On Linux, a second `listen` on a socket changes only that. Elsewhere, and without a C library, does nothing.
 */
function widenBacklog(): void {
  if (process.platform !== "linux") return;
  try {
    library ??= openLibrary();
    const { getsockopt, listen } = library.symbols;
    const isListening = new Int32Array(1);
    for (const fd of readdirSync("/proc/self/fd").map(Number)) {
      isListening[0] = 0;
      getsockopt(fd, solSocket, soAcceptConn, isListening, new Uint32Array([isListening.byteLength]));
      if (isListening[0] === 1) listen(fd, backlog);
    }
  } catch {
    // The server works with the smaller backlog.
  }
}

/** Routes limit bodies themselves, with an error response of the API. */
const maxRequestBodySize = Number.MAX_SAFE_INTEGER;
/** How long requests in flight may take once the server is told to stop. */
const drainTimeoutMs = 30_000;
/** How long clients on kept connections have to learn, with a response, that the connection closes. */
const noticeMs = 1_000;
/** After this long without a request, no client is left to notify. */
const usualQuietMs = 250;

/** The server cannot listen at its address; the message says why. */
export class ListenError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = "ListenError";
  }
}

/** What Bun reports of an address that is another machine's, of a family that this one lacks, or of a name without an address. */
const foreignAddressCodes = new Set<unknown>([
  "EADDRNOTAVAIL",
  "EAFNOSUPPORT",
  "EINVAL",
  "ENOTFOUND",
  "ERANGE",
]);

/** Explains why `Bun.serve` failed, if the cause is known. */
function explainListenError(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE" && isNamed(host))
    return new ListenError(
      `${hostAndPort(host, port)} is in use, or ${host} is not an address of this machine; set PRESAGE_PORT or PRESAGE_HOST to a free address.`,
      error,
    );
  if (code === "EADDRINUSE") return addressInUseError(host, port, error);
  if (code === "EACCES")
    return new ListenError(
      `This user may not listen at ${hostAndPort(host, port)}; set PRESAGE_PORT to 1024 or more.`,
      error,
    );
  if (foreignAddressCodes.has(code))
    return new ListenError(
      `${host} is not an address of this machine; set PRESAGE_HOST to one that is.`,
      error,
    );
  return error;
}

/** Whether a host is a name. For one without an address, Bun reports the code of an earlier error. */
function isNamed(host: string): boolean {
  return isIP(host) === 0 && host !== "localhost";
}

export function addressInUseError(host: string, port: number, cause?: unknown): ListenError {
  const message = `${hostAndPort(host, port)} is in use; set PRESAGE_PORT or PRESAGE_HOST to a free address.`;
  return new ListenError(message, cause);
}

function hostAndPort(host: string, port: number): string {
  return listenAddress(host, port).slice("http://".length);
}

export function listenAddress(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Whether only this machine can reach a server at the host. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

export interface ListenOptions {
  host: string;
  port: number;
  /** Whether other processes of this user may also listen at the address, if all of them set this. */
  reusePort?: boolean;
}

/** Starts listening immediately, and responds that the server is starting until it is given an app. */
export function listen({ host, port, reusePort = false }: ListenOptions) {
  let app = startingApp();
  const serve = () =>
    Bun.serve<SocketEvents>({
      hostname: host,
      port,
      idleTimeout: idleTimeoutS,
      maxRequestBodySize,
      // Set explicitly, because with `development: false` Bun shares the port with a second server, which would answer every other call.
      reusePort,
      // Without this, Bun's error page would show source code.
      development: false,
      routes: app.routes,
      fetch: app.fetch,
      websocket: socketHandler,
    });
  let server: ReturnType<typeof serve>;
  try {
    server = serve();
  } catch (error) {
    throw explainListenError(error, host, port);
  }
  widenBacklog();

  /** Bun's stop closes idle connections immediately, and would lose a request that a client is just sending on one of them. */
  async function waitForQuiet(startedAtMs: number, quietMs: number): Promise<void> {
    let quietSinceMs = startedAtMs;
    while (performance.now() - startedAtMs < noticeMs && performance.now() - quietSinceMs < quietMs) {
      await sleep(10);
      quietSinceMs =
        server.pendingRequests > 0 ? performance.now() : Math.max(startedAtMs, app.lastRequestAtMs());
    }
  }

  /** Aborted requests still have to write their log lines, and aborted sockets their last message. */
  async function settleAborted(): Promise<void> {
    const startedAtMs = performance.now();
    const isBusy = () => app.inFlight() > 0 || server.pendingWebSockets > 0;
    while (isBusy() && performance.now() - startedAtMs < noticeMs) await sleep(10);
  }

  return {
    address: listenAddress(host, server.port ?? port),
    port: server.port ?? port,
    /** Serves `app` from now on. */
    use(next: App): void {
      app = next;
      server.reload({ routes: app.routes, fetch: app.fetch });
    },
    /**
     * Stops accepting connections after at most a second, and returns once all requests in flight have a response and all WebSockets are
     * closed, or after 30 s. Returns the number of aborted requests and WebSocket messages. Tests, which know that no client is left, do not
     * wait for any.
     */
    async drain(quietMs = usualQuietMs): Promise<number> {
      const startedAtMs = performance.now();
      app.sockets.stop();
      await waitForQuiet(startedAtMs, quietMs);
      const stopped = server.stop(false);
      const isBusy = () => server.pendingRequests > 0 || server.pendingWebSockets > 0;
      while (isBusy() && performance.now() - startedAtMs < drainTimeoutMs) await sleep(10);
      const abortedMessages = app.sockets.abort();
      const aborted = server.pendingRequests + abortedMessages;
      if (abortedMessages > 0) await settleAborted();
      await server.stop(true);
      await stopped;
      await settleAborted();
      return aborted;
    },
  };
}

/** Throws a `ListenError` if this process could not listen at the address. */
export async function probeAddress({ host, port }: Pick<ListenOptions, "host" | "port">): Promise<void> {
  try {
    const options = { hostname: host, port, reusePort: false, development: false };
    await Bun.serve({ ...options, fetch: () => new Response(null, { status: 503 }) }).stop(true);
  } catch (error) {
    throw explainListenError(error, host, port);
  }
}

/** Served until there is an app: the process is up, but does not accept requests yet. */
function startingApp(): App {
  const category = "unavailable";
  const starting = { detail: "The server is starting.", category };
  const error = openAiError({ status: 503, body: starting, code: "overloaded", category });
  const headers = {
    "retry-after": "1",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
  };
  return {
    routes: {
      "/health": async () => Response.json({ status: "ok" }),
      "/ready": async () => Response.json({ status: "starting" }, { status: 503, headers }),
    },
    fetch: async ({ url }) => {
      const isOpenAi = isOpenAiPath(URL.parse(url)?.pathname ?? "");
      return Response.json(isOpenAi ? { ...starting, error } : starting, { status: 503, headers });
    },
    lastRequestAtMs: () => 0,
    inFlight: () => 0,
    sockets: { stop() {}, abort: () => 0 },
  };
}
