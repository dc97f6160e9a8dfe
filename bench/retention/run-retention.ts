import { rmSync } from "node:fs";
import { join } from "node:path";
import { endMicros, startMicros } from "../evaluations/search/distribution.ts";
import { fillAndStart } from "../evaluations/search/fill-and-start.ts";
import { startPostgres } from "../evaluations/search/start-postgres.ts";
import { type RunningPresage, startPresage } from "../evaluations/start-presage.ts";
import { workDirectory } from "../paths.ts";
import type { ProcessGroup } from "../processes.ts";
import type { Upstream } from "../targets/start-upstream.ts";
import type { RetentionPlan } from "./plan-retention.ts";
import { type Stored, storeSteadily } from "./store-steadily.ts";

export interface RetentionSample {
  readonly database: "SQLite" | "PostgreSQL";
  readonly before: Stored;
  readonly beside: Stored;
  readonly deleted: number;
  readonly deletedInS: number;
  /** Nothing too old was left. */
  readonly isComplete: boolean;
  /** The longest transaction was not longer than this; infinite beyond the last bucket. */
  readonly longestAtMostS: number;
}

const dayMicros = 86_400_000_000;
const pollMs = 500;

/** Deletes the older half of many results while others are stored, and compares how long that takes with before. */
export const runRetention = async (
  group: ProcessGroup,
  upstream: Upstream,
  plan: RetentionPlan,
): Promise<RetentionSample[]> => {
  const postgres = await startPostgres(group, 1);
  const file = join(workDirectory, "retention.db");
  for (const ending of ["", "-wal", "-shm"]) rmSync(file + ending, { force: true });
  const places = [
    { database: "SQLite" as const, url: `sqlite:${file}` },
    ...(postgres === undefined ? [] : [{ database: "PostgreSQL" as const, url: postgres.urls[0] ?? "" }]),
  ];
  const samples: RetentionSample[] = [];
  for (const { database, url } of places) {
    const directory = join(workDirectory, `retention-${database}`);
    const place = { database, url, directory, size: plan.results };
    const { presage: first } = await fillAndStart(group, upstream.origin, place);
    // Its code is compiled, and its part of the file in memory.
    await storeFor(first, plan.perSecond, plan.beforeS / 2);
    const before = await storeFor(first, plan.perSecond, plan.beforeS);
    await group.stop(first.process);
    const middle = (startMicros + endMicros) / 2;
    const days = Math.floor((Date.now() * 1_000 - middle) / dayMicros);
    const presage = await startPresage(group, upstream.origin, directory, url, {
      PRESAGE_RETENTION: `results=${days}`,
    });
    const sample = await measureDeletion(presage, plan);
    await group.stop(presage.process);
    samples.push({ database, before, ...sample });
    const { beside, deleted, deletedInS, isComplete, longestAtMostS } = sample;
    process.stdout.write(
      `retention  ${database}: ${deleted} deleted in ${deletedInS.toFixed(0)} s (${(deleted / deletedInS).toFixed(0)}/s)${isComplete ? "" : ", not all"}; storing p99 ${before.p99Ms.toFixed(1)} ms before, ${beside.p99Ms.toFixed(1)} ms beside, longest ${before.maxMs.toFixed(0)} and ${beside.maxMs.toFixed(0)} ms; longest transaction at most ${longestAtMostS * 1_000} ms; ${beside.failed} failed\n`,
    );
  }
  if (postgres !== undefined) await group.stop(postgres.process);
  return samples;
};

const storeFor = async (presage: RunningPresage, perSecond: number, seconds: number): Promise<Stored> => {
  const endsAtMs = performance.now() + seconds * 1_000;
  return await storeSteadily(presage, perSecond, async () => {
    await Bun.sleep(pollMs);
    return performance.now() > endsAtMs;
  });
};

const measureDeletion = async (
  presage: RunningPresage,
  { perSecond, mostS }: RetentionPlan,
): Promise<Omit<RetentionSample, "database" | "before">> => {
  const startedAtMs = performance.now();
  let metrics = "";
  let deletedInS = 0;
  const beside = await storeSteadily(presage, perSecond, async () => {
    await Bun.sleep(pollMs);
    metrics = await (await fetch(`${presage.origin}/metrics`)).text();
    deletedInS = (performance.now() - startedAtMs) / 1_000;
    return isCompleteIn(metrics) || deletedInS > mostS;
  });
  const deleted = figureOf(metrics, /^presage_deleted_rows_total\{kind="results"\} (\S+)/m);
  return {
    beside,
    deleted,
    deletedInS,
    isComplete: isCompleteIn(metrics),
    longestAtMostS: longestOf(metrics),
  };
};

const figureOf = (metrics: string, pattern: RegExp): number => Number(pattern.exec(metrics)?.[1] ?? 0);

const isCompleteIn = (metrics: string): boolean =>
  figureOf(metrics, /^presage_retention_complete_timestamp_seconds (\S+)/m) > 0;

/** The first bucket that has them all. */
const longestOf = (metrics: string): number => {
  const buckets = [
    ...metrics.matchAll(/^presage_deletion_transaction_seconds_bucket\{le="([^"]+)"\} (\d+)/gm),
  ].map(([, most = "", count]) => ({ most: Number(most.replace("+Inf", "Infinity")), count: Number(count) }));
  const all = buckets.at(-1)?.count ?? 0;
  return buckets.find(({ count }) => count === all)?.most ?? Number.NaN;
};
