import { type Figure, summarise } from "../report/figures.ts";
import type { Goal } from "../report/goal.ts";
import { showFigure, table } from "../report/markdown.ts";
import { type CacheKind, type CachePlan, type CacheSample, cacheKinds } from "./measure-cache.ts";

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

export const judgeCache = (samples: readonly CacheSample[]): Goal[] => {
  const ratio = cpuRatio(samples, "hit")?.median;
  return [
    {
      text: `A prediction from the cache uses at most ${mostCpuShare} of a forwarded one's processor time`,
      measured: ratio === undefined ? "not measured" : ratio.toFixed(2),
      met: ratio === undefined ? undefined : ratio <= mostCpuShare,
    },
  ];
};

export const writeCache = (samples: readonly CacheSample[], { connections, rounds }: CachePlan): string => `
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
