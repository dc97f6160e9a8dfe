import type { Database } from "../../../src/platform/storage/schema/tables.ts";
import type { Store } from "../../../src/platform/storage/store.ts";

/** A store whose every reader and writer is this one database. */
export function storeOf(database: Database): Store {
  return { database, reader: () => database, briefReader: () => database, writer: () => database };
}
