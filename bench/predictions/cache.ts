import { join } from "node:path";
import { findProblems, type Goal, showFigure, table } from "../lib/figures.ts";
import { runWrk } from "../lib/load.ts";
import type { Part } from "../lib/part.ts";
import { predictBody } from "../lib/payload.ts";
import { type ProcessGroup, workDirectory } from "../lib/processes.ts";
import { startTarget } from "../lib/targets.ts";
import type { Upstream } from "../lib/upstream.ts";
import { readCpuMs } from "../lib/usage.ts";
import { type Figure, summarise } from "./predictions-report.ts";

export interface CachePlan {
  readonly rounds: number;
  readonly connections: number;
  readonly firstWarmUpS: number;
  readonly warmUpS: number;
  readonly durationS: number;
}

const fullCachePlan: CachePlan = {
  rounds: 5,
  connections: 32,
  firstWarmUpS: 4,
  warmUpS: 1,
  durationS: 4,
};
const quickCachePlan: CachePlan = { ...fullCachePlan, rounds: 3, firstWarmUpS: 2, durationS: 2 };

/** `forwarded`: without a cache. `sampled`: with one, by a request that is not kept. `hit`: with one, always the same request. */
const cacheKinds = ["forwarded", "sampled", "hit"] as const;
export type CacheKind = (typeof cacheKinds)[number];

export interface CacheSample {
  readonly round: number;
  readonly kind: CacheKind;
  readonly requestsPerSecond: number;
  readonly cpuUsPerRequest: number;
  readonly p50Us: number;
  readonly problem: string | undefined;
}

const sampled = JSON.parse(predictBody) as { params: Record<string, unknown> };
const deterministicBody = JSON.stringify({ ...sampled, params: { ...sampled.params, temperature: 0 } });

/** One server without a cache and one with it take turns, in a different order in each round. */
const measureCache = async (
  group: ProcessGroup,
  upstream: Upstream,
  plan: CachePlan,
): Promise<CacheSample[]> => {
  const start = (name: string, policy: string) =>
    startTarget(group, "presage", upstream.origin, join(workDirectory, name), { PRESAGE_CACHE: policy });
  const [plain, cached] = [await start("cache-off", "off"), await start("cache-on", "deterministic")];
  const targets = {
    forwarded: plain,
    sampled: cached,
    hit: { ...cached, request: { ...cached.request, body: deterministicBody } },
  };
  await upstream.set(0);
  for (const { request } of Object.values(targets))
    await runWrk(group, request, plan.connections, plan.firstWarmUpS);

  const samples: CacheSample[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    const kinds = round % 2 === 0 ? cacheKinds : cacheKinds.toReversed();
    for (const kind of kinds) {
      const { process: server, request } = targets[kind];
      await runWrk(group, request, plan.connections, plan.warmUpS);
      await upstream.set(0);
      const cpuBeforeMs = readCpuMs(server.pid);
      const wrk = await runWrk(group, request, plan.connections, plan.durationS);
      const cpuMs = readCpuMs(server.pid) - cpuBeforeMs;
      const { answered } = await upstream.read();
      const failures = Object.values(wrk.errors).reduce((sum, count) => sum + count, 0);
      const sample: CacheSample = {
        round,
        kind,
        requestsPerSecond: (wrk.requests / wrk.durationUs) * 1e6,
        cpuUsPerRequest: (cpuMs * 1000) / wrk.requests,
        p50Us: wrk.p50Us,
        problem: findProblem(kind, answered, { ...wrk, failures }),
      };
      samples.push(sample);
      process.stdout.write(
        `cache  round ${round + 1}, ${kind}: ${sample.cpuUsPerRequest.toFixed(1)} µs a request${sample.problem === undefined ? "" : `  FAILED: ${sample.problem}`}\n`,
      );
    }
  }
  await Promise.all([group.stop(plain.process), group.stop(cached.process)]);
  return samples;
};

const findProblem = (
  kind: CacheKind,
  answered: number,
  { requests, failures }: { requests: number; failures: number },
): string | undefined => {
  if (failures > 0) return `${failures} requests failed`;
  if (kind === "hit") return answered === 0 ? undefined : `${answered} requests reached the upstream`;
  return answered >= requests ? undefined : `${requests} responses, but only ${answered} from the upstream`;
};

const mostCpuShare = 0.5;

const samplesOf = (samples: readonly CacheSample[], kind: CacheKind) =>
  samples.filter((sample) => sample.kind === kind && sample.problem === undefined);

/** Processor time as a ratio to a forwarded prediction's, within each round. */
const cpuRatio = (samples: readonly CacheSample[], kind: CacheKind): Figure | undefined => {
  const forwarded = new Map(
    samplesOf(samples, "forwarded").map((sample) => [sample.round, sample.cpuUsPerRequest]),
  );
  return summarise(
    samplesOf(samples, kind).flatMap(({ round, cpuUsPerRequest }) => {
      const other = forwarded.get(round);
      return other === undefined ? [] : [cpuUsPerRequest / other];
    }),
  );
};

const judgeCache = (samples: readonly CacheSample[]): Goal[] => {
  const ratio = cpuRatio(samples, "hit")?.median;
  return [
    {
      text: `A prediction from the cache uses at most ${mostCpuShare} of a forwarded one's processor time`,
      measured: ratio === undefined ? "not measured" : ratio.toFixed(2),
      met: ratio === undefined ? undefined : ratio <= mostCpuShare,
    },
  ];
};

const writeCache = (samples: readonly CacheSample[], { connections, rounds }: CachePlan): string => `
\`POST /v1/predict\` as above, over ${connections} connections, no delay at the upstream, ${rounds} rounds. Forwarded: a server without a cache.
Sampled: a server with \`PRESAGE_CACHE=deterministic\`, by a request with a temperature, which is not kept. Hit: the same server, by one request
with temperature 0, of which none reaches the upstream.

${table(
  ["", "requests/s", "p50, ms", "processor time a request, µs", "ratio to forwarded"],
  cacheKinds.map((kind) => {
    const show = (read: (sample: CacheSample) => number, scale?: number) =>
      showFigure(summarise(samplesOf(samples, kind).map(read)), scale);
    return [
      kind,
      show(({ requestsPerSecond }) => requestsPerSecond),
      show(({ p50Us }) => p50Us, 1 / 1000),
      show(({ cpuUsPerRequest }) => cpuUsPerRequest),
      showFigure(cpuRatio(samples, kind)),
    ];
  }),
)}
`;

export const cachePart: Part = {
  title: "Predictions from the cache",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickCachePlan : fullCachePlan;
    const samples = await measureCache(group, await upstream(), plan);
    return {
      goals: judgeCache(samples),
      problems: findProblems(samples, ({ kind, round }) => `${kind}, round ${round + 1}`),
      text: writeCache(samples, plan),
    };
  },
};
