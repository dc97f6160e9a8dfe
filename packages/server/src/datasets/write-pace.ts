import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isPostgres } from "../platform/storage/store.ts";

/** How long a batch should hold the writer. */
const targetMs = 20;
const mostRows = 8_000;
const leastRows = 100;
/** A batch of this many rows is written within milliseconds on any disk. */
const firstRows = 200;
/** Longer than other writers pause between two attempts at an SQLite file. */
export const pauseMs = 12;

/** Batches that are written or deleted, one after the other. */
export interface WritePace {
  /** How many rows the next batch may have. */
  maxRows(): number;
  write(rows: number, work: () => Promise<void>): Promise<void>;
}

export function createWritePace(database: Database): WritePace {
  let maxRows = firstRows;
  let wroteAtMs = Number.NEGATIVE_INFINITY;
  return {
    maxRows: () => maxRows,
    async write(rows, work) {
      // On SQLite other writers have their time. What was read since the last batch counts as waiting.
      const leftMs = wroteAtMs + pauseMs - performance.now();
      if (leftMs > 0 && !isPostgres(database)) await sleep(leftMs);
      const startedAtMs = performance.now();
      await work();
      wroteAtMs = performance.now();
      maxRows = nextRows(maxRows, rows, wroteAtMs - startedAtMs);
    },
  };
}

function nextRows(allowed: number, rows: number, tookMs: number): number {
  // A batch that was full of bytes says little about rows, and one that waited for another writer says nothing.
  const wanted =
    tookMs > targetMs ? Math.max(allowed / 2, (rows * targetMs) / tookMs) : Math.max(allowed, rows * 1.5);
  return Math.max(leastRows, Math.min(mostRows, Math.floor(wanted)));
}
