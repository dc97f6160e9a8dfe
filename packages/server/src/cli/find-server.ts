import { instanceHeader } from "../app/probes.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { readInstances } from "../platform/storage/settings-store.ts";

const readyTimeoutMs = 3_000;
/** Only the latest are tried: earlier ones have most likely crashed. */
const maxAddresses = 10;

export interface FoundServer {
  /** Where browsers reach a server that runs on the database. */
  running: string | undefined;
  /** Where servers on the database should be reached, newest first. */
  noted: readonly string[];
  /** Whether a server on another database answers at the address. */
  isTaken(address: string): Promise<boolean>;
}

/** Finds a server that runs on the database. If a public URL is configured, that is its address. */
export async function findServer(database: Database, { listen }: Config): Promise<FoundServer> {
  const instances = await readInstances(database);
  const ids = new Set(instances.map(({ id }) => id));
  const noted = [...new Set(instances.map(({ address }) => address))].slice(0, maxAddresses);
  const answering = await Promise.all(noted.map(findInstance));
  const running = noted.find((_, index) => ids.has(answering[index] ?? ""));
  return {
    running: running === undefined ? undefined : (listen.publicUrl ?? running),
    noted,
    async isTaken(address) {
      const id = await findInstance(address);
      return id !== undefined && !ids.has(id);
    },
  };
}

/** The instance that answers there and accepts requests; empty if it does not say which it is. */
async function findInstance(address: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${address}/ready`, { signal: AbortSignal.timeout(readyTimeoutMs) });
    const isReady = response.ok && (await response.text()).includes('"ready"');
    return isReady ? (response.headers.get(instanceHeader) ?? "") : undefined;
  } catch {
    return undefined;
  }
}
