import { setTimeout as sleep } from "node:timers/promises";
import { isPostgres } from "../platform/storage/is-postgres.ts";
import type { Database } from "../platform/storage/schema/tables.ts";

/** No batch may hold the writer for longer than 50 ms. */
const targetMs = 20;
const maxRows = 8_000;
const minRows = 100;
/** Longer than other writers pause between two attempts at an SQLite file. */
export const pauseMs = 12;

/** A batch of this many rows is written within milliseconds on any disk. */
export const firstBatchRows = 200;

/** How many rows the next batch may have, after one of `rows` rows took `tookMs`. */
export function adaptBatch(allowed: number, rows: number, tookMs: number): number {
  // A batch that was full of bytes says little about rows, and one that waited for another writer says nothing.
  const wanted =
    tookMs > targetMs ? Math.max(allowed / 2, (rows * targetMs) / tookMs) : Math.max(allowed, rows * 1.5);
  return Math.max(minRows, Math.min(maxRows, Math.floor(wanted)));
}

/** On SQLite, waits until other writers have had their time since the last batch. What was read meanwhile counts as waiting. */
export async function letOthersWrite(database: Database, lastBatchEndedAtMs: number): Promise<void> {
  if (isPostgres(database)) return;
  const leftMs = lastBatchEndedAtMs + pauseMs - performance.now();
  if (leftMs > 0) await sleep(leftMs);
}
