import { rmSync } from "node:fs";
import { join } from "node:path";
import { workDirectory } from "../../paths.ts";
import type { ProcessGroup } from "../../processes.ts";
import { type DatabaseName, type Filled, type Filling, fillAndStart } from "./fill-and-start.ts";
import { findFillingError } from "./find-filling-error.ts";
import { measureRequests, type SizedRequest, send } from "./measure-requests.ts";
import type { SearchPlan } from "./plan-search.ts";
import { searchFiltersAt, summaries } from "./search-filters.ts";
import { startPostgres } from "./start-postgres.ts";

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
  /** The time to fill the database, and the number of rollup rows, by size. */
  readonly filled: ReadonlyMap<number, Filling>;
  /** The same request path without a search: `GET /v1/whoami`. */
  readonly floor: Timing | undefined;
  readonly pages: readonly Timing[];
  readonly summaries: readonly Timing[];
  readonly problems: readonly string[];
}

const pageLimit = 50;
/** Warm-up, so that client and server have compiled their hot paths before the first filter. */
const firstWarmUps = 150;

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

const postTo =
  (path: string) =>
  ({ size, presage }: Filled, body: unknown): SizedRequest => ({
    size,
    url: `${presage.origin}/v1/evaluation-results/${path}`,
    options: { method: "POST", headers: presage.headers, body: JSON.stringify(body) },
  });
const search = postTo("search");
const summary = postTo("summary");

const measureAll = async (
  filled: readonly Filled[],
  plan: SearchPlan,
): Promise<Pick<SearchResult, "floor" | "pages" | "summaries" | "problems">> => {
  const problems: string[] = [];
  for (const one of filled) {
    const problem = await findFillingError(one.size, (body) => summary(one, body));
    if (problem !== undefined) problems.push(problem);
  }
  for (const one of filled) {
    for (let warmUp = 0; warmUp < firstWarmUps; warmUp += 1) await send(search(one, { limit: pageLimit }));
  }
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
    const requestOf = (one: Filled) => search(one, { ...searchFiltersAt(one.size)[name], limit: pageLimit });
    pages.push(...(await measure(name, plan.pageRepeats, requestOf)));
  }
  const summarised: Timing[] = [];
  for (const [name, body] of Object.entries(summaries)) {
    summarised.push(...(await measure(name, plan.summaryRepeats, (one) => summary(one, body))));
  }
  return { floor, pages, summaries: summarised, problems };
};

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
    return { database, sizes: [], filled: new Map(), floor: undefined, pages: [], summaries: [], problems };
  }
  const filled = [];
  for (const [index, size] of sizes.entries()) {
    const directory = join(workDirectory, `search-${database}-${size}`);
    const url = postgres?.urls[index] ?? `sqlite:${join(directory, "presage.db")}`;
    filled.push(await fillAndStart(group, upstreamOrigin, { database, size, url, directory }));
  }
  const measured = await measureAll(filled, plan);
  for (const { presage } of filled) await group.stop(presage.process);
  if (postgres !== undefined) await group.stop(postgres.process);
  for (const size of sizes)
    rmSync(join(workDirectory, `search-${database}-${size}`), { recursive: true, force: true });
  return { database, sizes, filled: new Map(filled.map((one) => [one.size, one])), ...measured };
};
