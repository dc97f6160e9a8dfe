import { workerData } from "node:worker_threads";
import type { EpisodeWrite } from "../environments/episodes/episode-writes-store.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { copyLog, openSqliteBackgroundWriter, openSqliteWriter } from "../platform/storage/sqlite/sqlite.ts";
import { serveWrites, type Writes } from "../platform/storage/thread.ts";
import type { StoredRows } from "../predictions/stored-rows.ts";
import type { Replayed } from "../reality/replays/replays-store.ts";
import type { WriteResults } from "../results/write/write-results.ts";
import type { RunWork } from "../runs/runner/work-store.ts";
import type { DeletionStep } from "./deletions.ts";

// The entry file of both workers that write into an SQLite file. Each has one connection.

export type WriterRole = "live" | "background";
export type LiveWrites = typeof live;
export type BackgroundWrites = typeof background;

let writeResults: WriteResults | undefined;

// Each kind loads its modules when first used: all of them would take 10 MB.

/** Writes that clients and runs wait for, as JSON. */
const live = {
  async results(database: Database, records: string) {
    const { createWriteInParts, toRecords } = await import("../results/write/write-results.ts");
    writeResults ??= createWriteInParts(database);
    return await writeResults(toRecords(records));
  },
  async work(database: Database, work: string) {
    const { storeWork } = await import("../runs/runner/work-store.ts");
    return await storeWork(database, JSON.parse(work) as RunWork);
  },
  async episodes(database: Database, writes: string) {
    const { applyWrites } = await import("../environments/episodes/episode-writes-store.ts");
    return await applyWrites(database, JSON.parse(writes) as EpisodeWrite[]);
  },
  async captured(database: Database, rows: string) {
    const { insertLivePredictions } = await import("../predictions/stored-predictions-store.ts");
    await insertLivePredictions(database, JSON.parse(rows) as StoredRows);
  },
} satisfies Writes;

/** Writes that nobody waits for: they must never delay live ones. */
const background = {
  async tags(database: Database, _: undefined) {
    const { rollUpSomeTags } = await import("../results/summary/tags.ts");
    const hasMore = await rollUpSomeTags(database);
    await copyLog(database);
    return hasMore;
  },
  async deletions(database: Database, step: DeletionStep) {
    const { takeDeletionStep } = await import("./deletions.ts");
    const batch = await takeDeletionStep(database, step);
    if (batch.heldMs > 0) await copyLog(database);
    return batch;
  },
  async replayed(database: Database, replayed: string) {
    const { storeReplayed } = await import("../reality/replays/replays-store.ts");
    await storeReplayed(database, ...(JSON.parse(replayed) as [checkId: string, Replayed[]]));
    await copyLog(database);
  },
} satisfies Writes;

const { role }: { role: WriterRole } = workerData;
if (role === "live") serveWrites(openSqliteWriter, live);
else serveWrites(openSqliteBackgroundWriter, background);
