import { median } from "../lib/figures.ts";
import type { Database } from "../lib/postgres.ts";
import { type ProcessGroup, programFile } from "../lib/processes.ts";
import { type RunningPresage, startPresage } from "../lib/targets.ts";

export interface Filled {
  readonly size: number;
  readonly presage: RunningPresage;
  /** The number of rollup rows. */
  readonly cells: number;
}

/** Presage creates the schema and its account, is stopped while the database is filled, and is started again. */
export const fillAndStart = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  name: string,
  { database, url }: Database,
  size: number,
): Promise<Filled> => {
  const first = await startPresage(group, upstreamOrigin, name, url);
  await group.stop(first.process);
  const startedAtMs = performance.now();
  const argv = [process.execPath, programFile("fill-database.ts"), url, String(size)];
  const { cells } = JSON.parse(await group.outputOf(`filling ${database}`, { argv })) as { cells: number };
  const fillS = (performance.now() - startedAtMs) / 1000;
  process.stdout.write(`filled  ${database}: ${size} results in ${fillS.toFixed(1)} s\n`);
  return { size, presage: await startPresage(group, upstreamOrigin, name, url), cells };
};

/** The same request to a database of one size. */
export interface SizedRequest {
  readonly size: number;
  readonly url: string;
  readonly options: RequestInit;
}

export const send = async ({ url, options }: SizedRequest): Promise<unknown> => {
  const response = await fetch(url, options);
  if (!response.ok) throw new Error(`${response.status}: ${(await response.text()).slice(0, 300)}`);
  return await response.json();
};

const postTo =
  (path: string) =>
  ({ size, presage }: Omit<Filled, "cells">, body: unknown): SizedRequest => ({
    size,
    url: `${presage.origin}/v1/evaluation-results/${path}`,
    options: { method: "POST", headers: presage.headers, body: JSON.stringify(body) },
  });
export const searchRequest = postTo("search");
export const summaryRequest = postTo("summary");

export interface Measurement {
  readonly size: number;
  readonly medianMs: number;
  readonly body: unknown;
}

/** A request that takes seconds is repeated less often. */
const enoughMs = 6_000;

/** The sizes take turns, so that a slowdown of the machine affects all of them; each turn begins with a different size. */
export const measureRequests = async (
  requests: readonly SizedRequest[],
  repeats: number,
): Promise<Measurement[]> => {
  const measured = [];
  for (const request of requests)
    measured.push({ request, body: await send(request), timesMs: [] as number[], spentMs: 0 });
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

const countOf = async (presage: RunningPresage, body: unknown): Promise<string> => {
  const { source, groups } = (await send(summaryRequest({ size: 0, presage }, body))) as {
    source: string;
    groups: readonly Readonly<Record<"count" | "scored" | "passed" | "failed", number>>[];
  };
  const figures = groups.map(({ count, scored, passed, failed }) => ({ count, scored, passed, failed }));
  return `${source} ${JSON.stringify(figures)}`;
};

/** The rollup's figures for some of the results must equal what Presage counts from the rows. Undefined if they do. */
export const findCountingError = async (presage: RunningPresage): Promise<string | undefined> => {
  const rollup = await countOf(presage, { app: "app-rare" });
  const rows = await countOf(presage, { app: "app-rare", after_id: 0 });
  if (rollup.replace("rollups ", "") === rows.replace("results ", "")) return undefined;
  return `the rollup says ${rollup}, and the rows ${rows}`;
};

/** Presage did not write the rollup. Undefined if it is right. */
export const findFillingError = async ({
  size,
  presage,
}: Omit<Filled, "cells">): Promise<string | undefined> => {
  const error = await findCountingError(presage);
  if (error !== undefined) return `of ${size} results, ${error}`;
  const all = await countOf(presage, {});
  return all.startsWith(`rollups [{"count":${size},`) ? undefined : `of ${size} results: ${all}`;
};
