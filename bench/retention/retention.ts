import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { type DatabaseName, type Database as Place, startPostgres } from "../lib/postgres.ts";
import { type ProcessGroup, workDirectory } from "../lib/processes.ts";
import { type RunningPresage, startPresage } from "../lib/targets.ts";
import type { Upstream } from "../lib/upstream.ts";
import { endMicros, startMicros } from "../search/distribution.ts";
import { fillAndStart, findCountingError, findFillingError } from "../search/filled-database.ts";

export const fullRetentionPlan = {
  /** The number of results; half of them are too old. */
  results: 500_000,
  /** Evaluations stored per second meanwhile. */
  perSecond: 100,
  /** How long evaluations are measured before anything is deleted. */
  beforeS: 60,
  /** The maximum time for which deletion is watched. */
  mostS: 3_600,
};
export type RetentionPlan = typeof fullRetentionPlan;

export const quickRetentionPlan: RetentionPlan = { results: 20_000, perSecond: 100, beforeS: 5, mostS: 60 };

interface Stored {
  readonly stored: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** The evaluations stored in a phase, and by how much the files grew. */
interface Phase extends Stored {
  readonly grownBytes: number;
}

interface Deletion {
  readonly deleted: number;
  readonly deletedInS: number;
  /** Whether all old results were deleted. */
  readonly isComplete: boolean;
  /** An upper bound of the longest transaction; infinite beyond the last bucket. */
  readonly longestAtMostS: number;
}

export interface RetentionSample extends Deletion {
  readonly database: DatabaseName;
  readonly before: Phase;
  readonly beside: Phase;
  /** The phase after the deletion. */
  readonly after: Phase;
  /** What is wrong with the figures of summaries. */
  readonly problem: string | undefined;
}

const dayMicros = 86_400_000_000;
const pollMs = 500;

/** Deletes the older half of many results while others are stored, and compares the time to store them with that before. */
export const runRetention = async (
  group: ProcessGroup,
  upstream: Upstream,
  plan: RetentionPlan,
  only: DatabaseName | undefined,
): Promise<RetentionSample[]> => {
  const samples: RetentionSample[] = [];
  if (only !== "PostgreSQL") {
    const file = join(workDirectory, "retention.db");
    samples.push(await runOn(group, upstream, plan, { database: "SQLite", url: `sqlite:${file}` }));
    for (const ending of ["", "-wal", "-shm"]) rmSync(file + ending, { force: true });
  }
  if (only !== "SQLite") {
    const postgres = await startPostgres(group, 1);
    const [url] = postgres?.urls ?? [];
    if (postgres === undefined || url === undefined) return samples;
    samples.push(await runOn(group, upstream, plan, { database: "PostgreSQL", url }));
    await group.stop(postgres.process);
  }
  return samples;
};

const runOn = async (
  group: ProcessGroup,
  { origin }: Upstream,
  plan: RetentionPlan,
  { database, url }: Place,
): Promise<RetentionSample> => {
  const name = `retention-${database}`;
  const first = await fillAndStart(group, origin, name, { database, url }, plan.results);
  const filled = await findFillingError(first);
  if (filled !== undefined) throw new Error(filled);
  // Warms up: afterwards the code is compiled, and its part of the file is in memory.
  await storeFor(first.presage, plan.perSecond, plan.beforeS / 2);
  const before = await measureGrowth(url, () => storeFor(first.presage, plan.perSecond, plan.beforeS));
  await group.stop(first.presage.process);
  const middle = (startMicros + endMicros) / 2;
  const days = Math.floor((Date.now() * 1_000 - middle) / dayMicros);
  const retention = { PRESAGE_RETENTION: `results=${days}` };
  const deleting = await startPresage(group, origin, name, url, retention);
  const { stored, grownBytes, ...deletion } = await measureGrowth(url, () => measureDeletion(deleting, plan));
  await group.stop(deleting.process);
  await vacuum(url);
  const last = await startPresage(group, origin, name, url);
  const after = await measureGrowth(url, () => storeFor(last, plan.perSecond, plan.beforeS));
  const problem = await findCountingError(last);
  await group.stop(last.process);
  const sample = { database, before, beside: { ...stored, grownBytes }, after, ...deletion, problem };
  process.stdout.write(`retention  ${describe(sample)}\n`);
  return sample;
};

const describe = ({ database, before, beside, after, ...deletion }: RetentionSample): string => {
  const { deleted, deletedInS, isComplete, longestAtMostS, problem } = deletion;
  const rate = `${deleted} deleted in ${deletedInS.toFixed(0)} s (${(deleted / deletedInS).toFixed(0)}/s)`;
  const p99 = `storing p99 ${before.p99Ms.toFixed(1)} ms before, ${beside.p99Ms.toFixed(1)} ms beside`;
  const longest = `longest ${before.maxMs.toFixed(0)} and ${beside.maxMs.toFixed(0)} ms`;
  const grown = [before, beside, after].map(({ grownBytes }) => (grownBytes / 1e6).toFixed(1)).join(", ");
  return `${database}: ${rate}${isComplete ? "" : ", not all"}; ${p99}, ${longest}; longest transaction at most ${longestAtMostS * 1_000} ms; ${beside.failed} failed; files grew by ${grown} MB before, beside, after${problem === undefined ? "" : `; ${problem}`}`;
};

const storeFor = async (presage: RunningPresage, perSecond: number, seconds: number): Promise<Stored> => {
  const endsAtMs = performance.now() + seconds * 1_000;
  return await storeSteadily(presage, perSecond, async () => performance.now() > endsAtMs);
};

const measureDeletion = async (
  presage: RunningPresage,
  { perSecond, mostS }: RetentionPlan,
): Promise<{ stored: Stored } & Deletion> => {
  const startedAtMs = performance.now();
  let metrics = "";
  let deletedInS = 0;
  const figureOf = (pattern: RegExp): number => Number(pattern.exec(metrics)?.[1] ?? 0);
  const isComplete = () => figureOf(/^presage_retention_complete_timestamp_seconds (\S+)/m) > 0;
  const stored = await storeSteadily(presage, perSecond, async () => {
    metrics = await (await fetch(`${presage.origin}/metrics`)).text();
    deletedInS = (performance.now() - startedAtMs) / 1_000;
    return isComplete() || deletedInS > mostS;
  });
  return {
    stored,
    deleted: figureOf(/^presage_deleted_rows_total\{kind="results"\} (\S+)/m),
    deletedInS,
    isComplete: isComplete(),
    longestAtMostS: longestOf(metrics),
  };
};

/** The first bucket that contains all transactions. */
const longestOf = (metrics: string): number => {
  const buckets = [
    ...metrics.matchAll(/^presage_deletion_transaction_seconds_bucket\{le="([^"]+)"\} (\d+)/gm),
  ].map(([, most = "", count]) => ({ most: Number(most.replace("+Inf", "Infinity")), count: Number(count) }));
  const all = buckets.at(-1)?.count ?? 0;
  return buckets.find(({ count }) => count === all)?.most ?? Number.NaN;
};

const body = JSON.stringify({
  evaluators: [{ evaluator: "exact-match" }],
  evaluated_model_output: "The door is open now.",
  evaluated_model_gold_answer: "The door is open now.",
  app: "bench",
  tags: { environment: "production" },
});

/** Stores evaluations at a steady rate, however long each takes, until the phase is over. */
const storeSteadily = async (
  { origin, headers }: RunningPresage,
  perSecond: number,
  isOver: () => Promise<boolean>,
): Promise<Stored> => {
  const tookMs: number[] = [];
  const pending = new Set<Promise<void>>();
  let failed = 0;
  const store = async (dueMs: number) => {
    const response = await fetch(`${origin}/v1/evaluate`, { method: "POST", headers, body });
    await response.arrayBuffer();
    if (response.ok) tookMs.push(performance.now() - dueMs);
    else failed += 1;
  };
  const startedAtMs = performance.now();
  let sent = 0;
  let over = false;
  const watching = (async () => {
    while (!over) {
      await Bun.sleep(pollMs);
      over = await isOver();
    }
  })();
  while (!over) {
    const dueMs = startedAtMs + (sent * 1_000) / perSecond;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await Bun.sleep(waitMs);
    // If the client itself was late, that says nothing about the server.
    const storing = store(performance.now()).catch(() => {
      failed += 1;
    });
    pending.add(storing);
    void storing.finally(() => pending.delete(storing));
    sent += 1;
  }
  await watching;
  await Promise.all(pending);
  tookMs.sort((a, b) => a - b);
  const at = (share: number) =>
    tookMs[Math.min(Math.floor(tookMs.length * share), tookMs.length - 1)] ?? Number.NaN;
  return { stored: tookMs.length, failed, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
};

const measureGrowth = async <Result>(
  url: string,
  act: () => Promise<Result>,
): Promise<Result & { grownBytes: number }> => {
  const startBytes = await readSpace(url);
  const result = await act();
  return { ...result, grownBytes: (await readSpace(url)) - startBytes };
};

/** The bytes of the results in the database's files, free space inside them included. */
const readSpace = async (url: string): Promise<number> => {
  if (url.startsWith("sqlite:")) {
    const database = new Database(url.slice("sqlite:".length), { readonly: true });
    const page = database
      .query("select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()")
      .get() as { bytes: number };
    database.close();
    return page.bytes;
  }
  const [size] = await onPostgres(
    url,
    `select sum(pg_total_relation_size(oid)) as bytes from pg_class
    where relname in ('evaluation_results', 'evaluation_payloads', 'evaluation_tags', 'evaluation_corrections')`,
  );
  return Number(size?.bytes);
};

/** Does what autovacuum does once a fifth of a table is deleted. SQLite does not need it. */
const vacuum = async (url: string): Promise<void> => {
  if (!url.startsWith("sqlite:")) await onPostgres(url, "vacuum");
};

const onPostgres = async (url: string, statement: string): Promise<{ bytes?: unknown }[]> => {
  const database = new SQL(url, { max: 1 });
  const rows = await database.unsafe(statement);
  await database.close();
  return rows;
};
