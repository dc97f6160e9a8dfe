import { median } from "../lib/figures.ts";
import { type ProcessGroup, programFile } from "../lib/processes.ts";
import { type RunningPresage, startPresage } from "../lib/targets.ts";

export type DatabaseName = "SQLite" | "PostgreSQL";

export interface Filling {
  readonly fillS: number;
  readonly cells: number;
}

export interface Filled {
  readonly size: number;
  readonly presage: RunningPresage;
}

interface Place {
  readonly database: DatabaseName;
  readonly size: number;
  readonly url: string;
  /** For its log and the SQLite file. */
  readonly directory: string;
}

/** Presage creates the schema and its account, is stopped while the database is filled, and is started again. */
export const fillAndStart = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  { database, size, url, directory }: Place,
): Promise<Filled & Filling> => {
  const first = await startPresage(group, upstreamOrigin, directory, url);
  await group.stop(first.process);
  const startedAtMs = performance.now();
  const script = programFile("fill-database.ts");
  const { stdout, stderr, exitCode } = await group.runCommand({
    argv: [process.execPath, script, url, String(size)],
  });
  if (exitCode !== 0) throw new Error(`filling ${database} failed: ${stderr}`);
  const fillS = (performance.now() - startedAtMs) / 1000;
  process.stdout.write(`filled  ${database}: ${size} results in ${fillS.toFixed(1)} s\n`);
  const presage = await startPresage(group, upstreamOrigin, directory, url);
  const { cells } = JSON.parse(stdout) as { cells: number };
  return { size, presage, fillS, cells };
};

/** The same request to a database of one size. */
export interface SizedRequest {
  readonly size: number;
  readonly url: string;
  readonly options: RequestInit;
}

export interface Measurement {
  readonly size: number;
  readonly medianMs: number;
  readonly body: unknown;
}

/** A request that takes seconds is repeated less often. */
const enoughMs = 6_000;

export const send = async ({ url, options }: SizedRequest): Promise<unknown> => {
  const response = await fetch(url, options);
  if (!response.ok) throw new Error(`${response.status}: ${(await response.text()).slice(0, 300)}`);
  return await response.json();
};

/** The sizes take turns, so that a slowdown of the machine affects all of them; each turn begins with a different size. */
export const measureRequests = async (
  requests: readonly SizedRequest[],
  repeats: number,
): Promise<Measurement[]> => {
  const measured = [];
  for (const request of requests) {
    measured.push({ request, body: await send(request), timesMs: [] as number[], spentMs: 0 });
  }
  for (let warmUp = 0; warmUp < 3; warmUp += 1) {
    for (const one of measured) if (one.spentMs < enoughMs / 10) one.spentMs += await time(one.request);
  }
  for (const one of measured) one.spentMs = 0;
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    const first = repeat % measured.length;
    for (const one of [...measured.slice(first), ...measured.slice(0, first)]) {
      if (one.spentMs > enoughMs) continue;
      const timeMs = await time(one.request);
      one.timesMs.push(timeMs);
      one.spentMs += timeMs;
    }
  }
  return measured.map(({ request, body, timesMs }) => ({
    size: request.size,
    medianMs: median(timesMs),
    body,
  }));
};

const time = async (request: SizedRequest): Promise<number> => {
  const startedAtMs = performance.now();
  await send(request);
  return performance.now() - startedAtMs;
};

interface Summary {
  readonly source: string;
  readonly groups: readonly Readonly<Record<"count" | "scored" | "passed" | "failed", number>>[];
}

type RequestOf = (body: unknown) => SizedRequest;

const count = async (requestOf: RequestOf, body: unknown): Promise<string> => {
  const { source, groups } = (await send(requestOf(body))) as Summary;
  const figures = groups.map(({ count, scored, passed, failed }) => ({ count, scored, passed, failed }));
  return `${source} ${JSON.stringify(figures)}`;
};

/** What the rollup says of some of the results must equal what Presage counts from the rows. Undefined if it does. */
export const findCountingError = async (requestOf: RequestOf): Promise<string | undefined> => {
  const rollup = await count(requestOf, { app: "app-rare" });
  const rows = await count(requestOf, { app: "app-rare", after_id: 0 });
  if (rollup.replace("rollups ", "") === rows.replace("results ", "")) return undefined;
  return `the rollup says ${rollup}, and the rows ${rows}`;
};

/** Presage did not write the rollup. Undefined if it is right. */
export const findFillingError = async (size: number, requestOf: RequestOf): Promise<string | undefined> => {
  const error = await findCountingError(requestOf);
  if (error !== undefined) return `of ${size} results, ${error}`;
  const all = await count(requestOf, {});
  return all.startsWith(`rollups [{"count":${size},`) ? undefined : `of ${size} results: ${all}`;
};
