import { createPresage, type Presage, PresageError } from "@presage/sdk";
import { CommandError } from "./command-error.ts";

/** Longer than any deadline that a server can be configured with: the server is the one that gives up. */
const timeoutMs = 25 * 3_600_000;

/** Makes one call, retries included. */
export type CallServer = <Value>(call: (presage: Presage) => Promise<Value>) => Promise<Value>;

/** Calls the Presage at `server`, which may end in the `/v1` that OpenAI clients need. */
export function connectToServer(server: string, apiKey: string | undefined): CallServer {
  if (apiKey === undefined) throw new CommandError("--server needs an API key in PRESAGE_API_KEY");
  const presage = createClient(server.replace(/\/v1\/*$/, ""), apiKey);
  return async (call) => {
    try {
      return await call(presage);
    } catch (error) {
      if (!(error instanceof PresageError)) throw error;
      if (error.category === "unauthenticated")
        throw new CommandError(`${server} rejects the API key in PRESAGE_API_KEY`);
      const message = `${server}: ${error.message}`;
      // Every line of a file names the same evaluators.
      if (error.issues.some(({ loc }) => loc[1] === "evaluators")) throw new CommandError(message);
      throw new PresageError(message, error);
    }
  };
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
