import { createPresage, type Presage, PresageError } from "@presage/sdk";
import { CommandError } from "./command-error.ts";

/** Longer than any deadline that a server can be configured with: the server is the one that gives up. */
const timeoutMs = 25 * 3_600_000;

/** Makes one call, retries included. */
export type CallServer = <Value>(call: (presage: Presage) => Promise<Value>) => Promise<Value>;

export interface ServerConnection {
  call: CallServer;
  /** Where its dashboard is. */
  origin: string;
}

/**
 * Connects to the Presage at `server`, which may end in the `/v1` that OpenAI clients need. Without a scheme it is https, so
 * that no key is sent in plain text unasked, but on this machine http.
 */
export function connectToServer(
  server: string,
  apiKey: string | undefined,
  keyPlace = "PRESAGE_API_KEY",
): ServerConnection {
  if (apiKey === undefined) throw new CommandError("--server needs an API key in PRESAGE_API_KEY");
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(server);
  const address = hasScheme ? server : `${isOnThisMachine(server) ? "http" : "https"}://${server}`;
  const hint =
    hasScheme || isOnThisMachine(server) ? "" : ` If it serves plain HTTP, use --server http://${server}.`;
  const baseUrl = address.replace(/\/v1\/*$/, "");
  const presage = createClient(baseUrl, apiKey);
  return {
    origin: new URL(baseUrl).origin,
    async call(call) {
      try {
        return await call(presage);
      } catch (error) {
        if (!(error instanceof PresageError)) throw error;
        if (error.category === "unauthenticated")
          throw new CommandError(`${address} rejects the API key in ${keyPlace}`);
        // Where nothing of Presage responded, the message names the address itself.
        const named = error.message.includes(baseUrl) ? error.message : `${address}: ${error.message}`;
        const message = error.category === "connection" ? named + hint : named;
        // Every line of a file names the same evaluators.
        if (error.issues.some(({ loc }) => loc[1] === "evaluators")) throw new CommandError(message);
        throw new PresageError(message, error);
      }
    },
  };
}

function isOnThisMachine(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(\/|$)/i.test(host);
}

function createClient(baseUrl: string, apiKey: string): Presage {
  try {
    // Bun's own timeout of five minutes is shorter than a server's deadline can be.
    return createPresage({
      baseUrl,
      apiKey,
      timeoutMs,
      fetch: (url, init) => fetch(url, { ...init, timeout: false }),
    });
  } catch (error) {
    throw error instanceof TypeError ? new CommandError(`--server: ${error.message}`) : error;
  }
}
