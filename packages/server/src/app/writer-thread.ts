import { workerData } from "node:worker_threads";
import { applyWrites, type EpisodeWrite } from "../environments/episodes/new-steps-store.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { copyLog, openSqliteBackgroundWriter, openSqliteWriter } from "../platform/storage/sqlite.ts";
import { serveWrites, type Writes } from "../platform/storage/thread.ts";
import type { CapturedRows } from "../predictions/captured-rows.ts";
import { insertCaptured } from "../predictions/stored-predictions-store.ts";
import { rollUpSomeTags } from "../results/summary/tags.ts";
import { createWriteInParts, toRecords, type WriteResults } from "../results/write/write-results.ts";
import { type RunWork, storeWork } from "../runs/runner/work-store.ts";
import { type DeletionStep, takeDeletionStep } from "./deletions.ts";

// The entry file of both workers that write into an SQLite file. Each has one connection.

export type WriterRole = "live" | "background";
export type LiveWrites = typeof live;
export type BackgroundWrites = typeof background;

let writeResults: WriteResults | undefined;

/** What clients and runs wait for, as JSON. */
const live = {
  async results(database: Database, records: string) {
    writeResults ??= createWriteInParts(database);
    return await writeResults(toRecords(records));
  },
  work: (database: Database, work: string) => storeWork(database, JSON.parse(work) as RunWork),
  episodes: (database: Database, writes: string) =>
    applyWrites(database, JSON.parse(writes) as EpisodeWrite[]),
  captured: (database: Database, rows: string) => insertCaptured(database, JSON.parse(rows) as CapturedRows),
} satisfies Writes;

/** What nobody waits for: it must never stand before what is live. */
const background = {
  async tags(database: Database, _: undefined) {
    const hasMore = await rollUpSomeTags(database);
    await copyLog(database);
    return hasMore;
  },
  async deletions(database: Database, step: DeletionStep) {
    const batch = await takeDeletionStep(database, step);
    if (batch.heldMs > 0) await copyLog(database);
    return batch;
  },
} satisfies Writes;

const { role }: { role: WriterRole } = workerData;
if (role === "live") serveWrites(openSqliteWriter, live);
else serveWrites(openSqliteBackgroundWriter, background);
