import {
  compareRounds,
  type Figure,
  figureOf,
  findProblems,
  type Goal,
  judge,
  type Read,
  showFigure,
  showProblem,
  tableOf,
  withoutProblems,
} from "../lib/figures.ts";
import { perSecond, runWrk, type WrkResult } from "../lib/load.ts";
import type { Part } from "../lib/part.ts";
import { predictBody } from "../lib/payload.ts";
import type { ProcessGroup } from "../lib/processes.ts";
import { startPresage } from "../lib/targets.ts";
import type { Upstream } from "../lib/upstream.ts";
import { readCpuMs } from "../lib/usage.ts";

const fullPlan = { rounds: 5, connections: 32, firstWarmUpS: 4, warmUpS: 1, durationS: 4 };
type CachePlan = typeof fullPlan;
const quickPlan: CachePlan = { ...fullPlan, rounds: 3, firstWarmUpS: 2, durationS: 2 };

export const cachePart: Part = {
  title: "Predictions from the cache",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickPlan : fullPlan;
    const samples = await measureCache(group, await upstream(), plan);
    return {
      goals: [judgeCache(samples)],
      problems: findProblems(samples, ({ kind, round }) => `${kind}, round ${round + 1}`),
      text: writeCache(samples, plan),
    };
  },
};

/** `forwarded`: without a cache. `sampled`: with a cache, but requests that it does not keep. `hit`: with a cache, always the same request. */
const cacheKinds = ["forwarded", "sampled", "hit"] as const;
type CacheKind = (typeof cacheKinds)[number];

interface CacheSample {
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
  { rounds, connections, firstWarmUpS, warmUpS, durationS }: CachePlan,
): Promise<CacheSample[]> => {
  const start = (name: string, policy: string) =>
    startPresage(group, upstream.origin, name, undefined, { PRESAGE_CACHE: policy });
  const [plain, cached] = [await start("cache-off", "off"), await start("cache-on", "deterministic")];
  const targets = {
    forwarded: plain,
    sampled: cached,
    hit: { ...cached, predict: { ...cached.predict, body: deterministicBody } },
  };
  await upstream.set(0);
  for (const { predict } of Object.values(targets)) await runWrk(group, predict, connections, firstWarmUpS);

  const samples: CacheSample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of round % 2 === 0 ? cacheKinds : cacheKinds.toReversed()) {
      const { process: server, predict } = targets[kind];
      await runWrk(group, predict, connections, warmUpS);
      await upstream.set(0);
      const cpuBeforeMs = readCpuMs(server.pid);
      const wrk = await runWrk(group, predict, connections, durationS);
      const cpuMs = readCpuMs(server.pid) - cpuBeforeMs;
      const { answered } = await upstream.read();
      const sample: CacheSample = {
        round,
        kind,
        requestsPerSecond: perSecond(wrk),
        cpuUsPerRequest: (cpuMs * 1000) / wrk.requests,
        p50Us: wrk.p50Us,
        problem: findProblem(kind, answered, wrk),
      };
      samples.push(sample);
      process.stdout.write(
        `cache  round ${round + 1}, ${kind}: ${sample.cpuUsPerRequest.toFixed(1)} µs a request${showProblem(sample.problem)}\n`,
      );
    }
  }
  await Promise.all([group.stop(plain.process), group.stop(cached.process)]);
  return samples;
};

const findProblem = (
  kind: CacheKind,
  answered: number,
  { requests, errors }: WrkResult,
): string | undefined => {
  const failures = Object.values(errors).reduce((sum, count) => sum + count, 0);
  if (failures > 0) return `${failures} requests failed`;
  if (kind === "hit") return answered === 0 ? undefined : `${answered} requests reached the upstream`;
  return answered >= requests ? undefined : `${requests} responses, but only ${answered} from the upstream`;
};

const mostCpuShare = 0.5;

const samplesOf = (samples: readonly CacheSample[], wanted: CacheKind): CacheSample[] =>
  withoutProblems(samples).filter(({ kind }) => kind === wanted);

/** Processor time as a ratio to a forwarded prediction's, within each round. */
const cpuRatio = (samples: readonly CacheSample[], kind: CacheKind): Figure | undefined =>
  compareRounds(samplesOf(samples, kind), samplesOf(samples, "forwarded"), (one) => one.cpuUsPerRequest);

const judgeCache = (samples: readonly CacheSample[]): Goal =>
  judge(
    `A prediction from the cache uses at most ${mostCpuShare} of a forwarded one's processor time`,
    cpuRatio(samples, "hit")?.median,
    (ratio) => ratio <= mostCpuShare,
    (ratio) => ratio.toFixed(2),
  );

const writeCache = (samples: readonly CacheSample[], { connections, rounds }: CachePlan): string => {
  const show = (read: Read<CacheSample>, scale?: number) => (kind: CacheKind) =>
    showFigure(figureOf(samplesOf(samples, kind), read), scale);
  return `
\`POST /v1/predict\` as above, over ${connections} connections, no delay at the upstream, ${rounds} rounds. Forwarded: a server without a cache.
Sampled: a server with \`PRESAGE_CACHE=deterministic\`, by a request with a temperature, which is not kept. Hit: the same server, by one request
with temperature 0, of which none reaches the upstream.

${tableOf(cacheKinds, [
  ["", (kind) => kind],
  ["requests/s", show(({ requestsPerSecond }) => requestsPerSecond)],
  ["p50, ms", show(({ p50Us }) => p50Us, 1 / 1000)],
  ["processor time a request, µs", show(({ cpuUsPerRequest }) => cpuUsPerRequest)],
  ["ratio to forwarded", (kind) => showFigure(cpuRatio(samples, kind))],
])}
`;
};
