import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../platform/storage/schema/tables.ts";
import { deleteRunRow } from "./deleted-runs-store.ts";
import { deleteSomeRunRows } from "./runner/run-work-store.ts";

/** Some tens of milliseconds of the writer's time. */
const rowsAtOnce = 500;
const pauseMs = 10;

/** Deletes the rows of a deleted run. A process that ends before leaves the rest to the next server. */
export async function sweepRun(database: Database, id: string): Promise<void> {
  while (await deleteSomeRunRows(database, id, rowsAtOnce)) await sleep(pauseMs);
  await deleteRunRow(database, id);
}
