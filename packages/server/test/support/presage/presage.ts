import { composeServer } from "../../../src/app/compose-server.ts";
import { listen } from "../../../src/app/listen.ts";
import { readConfig } from "../../../src/config/config.ts";
import type { RawEnvironment } from "../../../src/config/values.ts";
import { createLog } from "../../../src/platform/observability/logger.ts";
import { freePort } from "../free-port.ts";
import { asReplicas } from "../upstream/as-replicas.ts";

export const testKey = "bootstrap-key-of-the-tests-0123456789";

/** A running server and the ways to call it. */
export interface TestPresage {
  url: string;
  /** The served paths, with parameters as `:name`. */
  paths: string[];
  /** Signs a browser in once, in local mode. */
  signInAddress: string | undefined;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Reads the files of deployments and of prices again, as on SIGHUP. */
  rereadFiles(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the server in the tests' process, on a free port. Calls send the bootstrap key by default. Its background work runs
 * ten times as often as outside of tests.
 */
export async function startPresage(environment: RawEnvironment, patience = 0.1): Promise<TestPresage> {
  const read = readConfig({
    PRESAGE_PORT: String(await freePort()),
    PRESAGE_DATABASE_URL: "sqlite::memory:",
    PRESAGE_BOOTSTRAP_KEY: testKey,
    PRESAGE_LOG_LEVEL: "silent",
    ...asReplicas(environment),
  });
  const config = { ...read, patience };
  const server = listen(config.listen);
  const presage = await composeServer(config, createLog(config.logLevel), server.address);
  server.use(presage.app);
  presage.setPhase("ready");
  return {
    url: server.address,
    paths: Object.keys(presage.app.routes),
    signInAddress: presage.signInAddress,
    rereadFiles: presage.rereadFiles,
    call: (method, path, body, headers) => callWithKey(server.address, method, path, body, headers),
    async stop() {
      presage.setPhase("stopping");
      await server.drain(0);
      await presage.dispose();
    },
  };
}

/** A body that is a string, bytes or a stream is sent as is, anything else as JSON. */
export function callWithKey(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = { "x-api-key": testKey },
): Promise<Response> {
  const isRaw = typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream;
  return fetch(url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: isRaw ? (body as string) : JSON.stringify(body) }),
  });
}
