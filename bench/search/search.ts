import { rmSync } from "node:fs";
import { join } from "node:path";
import { type DatabaseName, startPostgres } from "../lib/postgres.ts";
import { type ProcessGroup, workDirectory } from "../lib/processes.ts";
import { sqliteFile } from "../lib/targets.ts";
import { endMicros, fewResults, startMicros } from "./distribution.ts";
import {
  type Filled,
  fillAndStart,
  findFillingError,
  measureRequests,
  type SizedRequest,
  searchRequest,
  send,
  summaryRequest,
} from "./filled-database.ts";

export interface SearchPlan {
  /** Numbers of results in the databases, ascending; every ratio is to the first. */
  readonly sizes: Readonly<Record<DatabaseName, readonly number[]>>;
  readonly pageRepeats: number;
  readonly summaryRepeats: number;
}

export const fullSearchPlan: SearchPlan = {
  sizes: { SQLite: [10_000, 1_000_000], PostgreSQL: [10_000, 1_000_000, 5_000_000] },
  pageRepeats: 30,
  summaryRepeats: 10,
};

export const quickSearchPlan: SearchPlan = {
  sizes: { SQLite: [10_000, 100_000], PostgreSQL: [10_000, 100_000] },
  pageRepeats: 10,
  summaryRepeats: 3,
};

/** One row of a table: the medians of one request, by size. */
export interface Timing {
  readonly name: string;
  /** The number of results in a page, or the number of groups of a summary and their source. */
  readonly returned: string;
  readonly medianMs: ReadonlyMap<number, number>;
}

export interface SearchResult {
  readonly database: DatabaseName;
  readonly sizes: readonly number[];
  readonly filled: readonly Filled[];
  /** The same request path without a search: `GET /v1/whoami`. */
  readonly floor: Timing | undefined;
  readonly pages: readonly Timing[];
  readonly summaries: readonly Timing[];
  readonly problems: readonly string[];
}

export const measureSearch = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  database: DatabaseName,
  plan: SearchPlan,
): Promise<SearchResult> => {
  const sizes = plan.sizes[database];
  const postgres = database === "PostgreSQL" ? await startPostgres(group, sizes.length) : undefined;
  if (database === "PostgreSQL" && postgres === undefined) {
    const problems = ["it does not run on this machine, and nothing of it was measured"];
    return { database, sizes: [], filled: [], floor: undefined, pages: [], summaries: [], problems };
  }
  const filled: Filled[] = [];
  for (const [index, size] of sizes.entries()) {
    const name = `search-${database}-${size}`;
    const url = postgres?.urls[index] ?? `sqlite:${sqliteFile(join(workDirectory, name))}`;
    filled.push(await fillAndStart(group, upstreamOrigin, name, { database, url }, size));
  }
  const measured = await measureAll(filled, plan);
  for (const { presage } of filled) await group.stop(presage.process);
  if (postgres !== undefined) await group.stop(postgres.process);
  for (const { presage } of filled) rmSync(presage.directory, { recursive: true, force: true });
  return { database, sizes, filled, ...measured };
};

const pageLimit = 50;
/** Warm-up, so that client and server have compiled their hot paths before the first filter. */
const firstWarmUps = 150;

const measureAll = async (
  filled: readonly Filled[],
  plan: SearchPlan,
): Promise<Pick<SearchResult, "floor" | "pages" | "summaries" | "problems">> => {
  const problems: string[] = [];
  for (const one of filled) {
    const problem = await findFillingError(one);
    if (problem !== undefined) problems.push(problem);
  }
  for (const one of filled)
    for (let warmUp = 0; warmUp < firstWarmUps; warmUp += 1)
      await send(searchRequest(one, { limit: pageLimit }));
  const measure = async (
    name: string,
    repeats: number,
    requestOf: (one: Filled) => SizedRequest,
  ): Promise<Timing[]> => {
    try {
      const measurements = await measureRequests(filled.map(requestOf), repeats);
      const medianMs = new Map(measurements.map((measurement) => [measurement.size, measurement.medianMs]));
      const returned = describeBodies(measurements.map(({ body }) => body));
      const times = [...medianMs.values()].map((ms) => ms.toFixed(2)).join(", ");
      process.stdout.write(`search  ${name}: ${times} ms (${returned})\n`);
      return [{ name, returned, medianMs }];
    } catch (error) {
      problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      process.stdout.write(`search  ${name}  FAILED: ${problems.at(-1)}\n`);
      return [];
    }
  };
  const [floor] = await measure("whoami", plan.pageRepeats, ({ size, presage }) => ({
    size,
    url: `${presage.origin}/v1/whoami`,
    options: { headers: presage.headers },
  }));
  const pages: Timing[] = [];
  for (const name of Object.keys(searchFiltersAt(filled[0]?.size ?? 0))) {
    const requestOf = (one: Filled) =>
      searchRequest(one, { ...searchFiltersAt(one.size)[name], limit: pageLimit });
    pages.push(...(await measure(name, plan.pageRepeats, requestOf)));
  }
  const summarised: Timing[] = [];
  for (const [name, body] of Object.entries(summaries)) {
    summarised.push(...(await measure(name, plan.summaryRepeats, (one) => summaryRequest(one, body))));
  }
  return { floor, pages, summaries: summarised, problems };
};

const describeBodies = (bodies: readonly unknown[]): string => {
  const texts = bodies.map((body) => {
    const { results, source, groups } = body as {
      results?: unknown[];
      source?: string;
      groups?: unknown[];
    };
    if (results !== undefined) return String(results.length);
    return groups === undefined ? "" : `${groups.length}, ${source}`;
  });
  return [...new Set(texts)].join(" / ");
};

type Body = Readonly<Record<string, unknown>>;

const instantAt = (share: number): string =>
  new Date((startMicros + share * (endMicros - startMicros)) / 1000).toISOString();

/** Every search filter with a common and a rare value, by its name in the table. "Few" is the same number at every size. */
const searchFiltersAt = (size: number): Readonly<Record<string, Body>> => ({
  none: {},
  "none, oldest first": { order: "created_at" },
  "none, a page in the middle": { before_id: size / 2 },
  "none, in the middle, oldest first": { after_id: size / 2, order: "created_at" },
  "app, common": { app: "app-main" },
  "app, rare": { app: "app-rare" },
  "app, common, in the middle, oldest first": { app: "app-main", after_id: size / 2, order: "created_at" },
  "evaluator, common": { evaluator_id: "exact-match-2026-11-21" },
  "evaluator, rare": { evaluator_id: "judge-large-2026-11-21" },
  "family, common": { evaluator_family: "exact-match" },
  "family, rare": { evaluator_family: "judge-large" },
  "profile name, common": { profile_name: "profile-0" },
  "profile name, rare": { profile_name: "profile-2" },
  "profile id, common": { evaluator_profile_public_id: "profile-exact-match-0" },
  "profile id, rare": { evaluator_profile_public_id: "profile-exact-match-2" },
  passed: { pass: true },
  "not passed": { pass: false },
  "score, wide": { score_raw_min: 0.1, score_raw_max: 0.9 },
  "score, wide, oldest first": { score_raw_min: 0.1, score_raw_max: 0.9, order: "created_at" },
  "score, narrow": { score_raw_min: 0.412, score_raw_max: 0.447 },
  "score, at least": { score_raw_min: 0.777 },
  "score, at most": { score_raw_max: 0.333 },
  "score, wide, in the middle": { score_raw_min: 0.1, score_raw_max: 0.9, before_id: size / 2 },
  "tag, common": { tags: { environment: "production" } },
  "tag, rare": { tags: { environment: "canary" } },
  "two tags, common": { tags: { environment: "production", model: "model-1" } },
  "two tags, common and rare": { tags: { environment: "canary", model: "model-1" } },
  "dataset, common": { dataset_id: "dataset-main" },
  "dataset, rare": { dataset_id: "dataset-rare" },
  "dataset, few": { dataset_id: "dataset-few" },
  "run, large": { evaluation_run_id: "run-nightly" },
  "run, of 500": { evaluation_run_id: `run-${Math.floor(size / 500 / 10) * 5}` },
  "explained always": { explain_strategy: "always" },
  "explained on fail, rare": { explain_strategy: "on-fail" },
  "status failed": { status: "failed" },
  "status failed, common tag": { status: "failed", tags: { environment: "production" } },
  "after a time": { after_datetime: instantAt(0.5) },
  "after a time, oldest first": { after_datetime: instantAt(0.5), order: "created_at" },
  "before a time": { before_datetime: instantAt(0.5) },
  "between two times, app, common": {
    after_datetime: instantAt(0.25),
    before_datetime: instantAt(0.75),
    app: "app-main",
  },
  "between two ids": { after_id: size / 2, before_id: size / 2 + fewResults },
  "app and passed, common": { app: "app-main", pass: true },
  "app, rare, and a score": { app: "app-rare", score_raw_min: 0.5 },
  "run, large, and dataset, few": { evaluation_run_id: "run-nightly", dataset_id: "dataset-few" },
  "tag, common, and app, rare": { tags: { environment: "production" }, app: "app-rare" },
});

/** Summaries by their names in the table. */
const summaries: Readonly<Record<string, Body>> = {
  "by day": { group_by: ["day"] },
  "by evaluator": { group_by: ["evaluator"] },
  "by day, of one app": { group_by: ["day"], app: "app-main" },
  "by run": { group_by: ["run"] },
  "by day, of a rare tag": { group_by: ["day"], tags: { environment: "canary" } },
  "by day, of a common tag": { group_by: ["day"], tags: { environment: "production" } },
  "by day, of a score": { group_by: ["day"], score_raw_min: 0.5 },
  "by tag": { group_by: ["tag"], tag: "environment" },
};
export const summariesOfTheGoals = { byDay: "by day", byTag: "by tag" } as const;
