import { join } from "node:path";
import { readCpuMs } from "../host/process-account.ts";
import { runWrk } from "../load/run-wrk.ts";
import { workDirectory } from "../paths.ts";
import { predictBody } from "../payload.ts";
import type { ProcessGroup } from "../processes.ts";
import { startTarget } from "../targets/start-target.ts";
import type { Upstream } from "../targets/start-upstream.ts";

export interface CachePlan {
  readonly rounds: number;
  readonly connections: number;
  readonly firstWarmUpS: number;
  readonly warmUpS: number;
  readonly durationS: number;
}

export const fullCachePlan: CachePlan = {
  rounds: 5,
  connections: 32,
  firstWarmUpS: 4,
  warmUpS: 1,
  durationS: 4,
};
export const quickCachePlan: CachePlan = { ...fullCachePlan, rounds: 3, firstWarmUpS: 2, durationS: 2 };

/** `forwarded`: without a cache. `sampled`: with one, by a request that is not kept. `hit`: with one, always the same request. */
export const cacheKinds = ["forwarded", "sampled", "hit"] as const;
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
export const measureCache = async (
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
