import { composeStore, type OpenedStore } from "../../../src/app/storage.ts";
import { readConfig } from "../../../src/config/config.ts";
import { createLog } from "../../../src/platform/observability/logger.ts";

/** Opens a database as the server does, for tests that read or write its tables directly. */
export async function openStore(databaseUrl: string): Promise<OpenedStore & AsyncDisposable> {
  const config = readConfig({ PRESAGE_DATABASE_URL: databaseUrl });
  const store = await composeStore(config, createLog("silent"));
  return { ...store, [Symbol.asyncDispose]: () => store.database.destroy() };
}
