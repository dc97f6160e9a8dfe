import { createReplicas, routingKeyOf } from "../../packages/server/src/upstream/replicas.ts";
import type { CompleteResponse, Send } from "../../packages/server/src/upstream/send.ts";
import { expectedMessages } from "../lib/payload.ts";
import type { ProcessGroup } from "../lib/processes.ts";
import { readCpuMs } from "../lib/usage.ts";
import {
  type Fleet,
  type Play,
  type PolicyName,
  type Prompts,
  playSessions,
  policyNames,
  type ReplicasPlan,
  startFleet,
} from "./fleet.ts";

export interface PolicySample {
  readonly round: number;
  readonly policy: PolicyName;
  readonly stepsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The share of steps whose replica had the trajectory's earlier steps in memory, among steps that have any. */
  readonly hitShare: number;
  /** 99th percentile over time of the most loaded replica's requests in flight over the mean. */
  readonly imbalance: number;
  readonly presageCpuUsPerStep: number;
  readonly failed: number;
}

/** Each session has its own system turn. */
const ownPrompts: Prompts = {
  systemCharacters: 16_000,
  stepCharacters: 500,
  shared: false,
  grows: true,
  sendsSession: true,
};

/** Measures every policy on the same replicas, which forget in between, in a different order in each round. */
export const comparePolicies = async (
  group: ProcessGroup,
  { rounds, replicas, model, sessions, steps }: ReplicasPlan,
): Promise<PolicySample[]> => {
  const fleet = await startFleet(group, "policies", { replicas, model, processes: "one for all" });
  const play = { sessions, steps, prompts: ownPrompts };
  const samples: PolicySample[] = [];
  // Presage and the replicas compile their hot paths.
  await measurePolicy(group, fleet, "random", -1, { ...play, steps: 4 });
  for (let round = 0; round < rounds; round += 1) {
    for (const policy of [...policyNames.slice(round), ...policyNames.slice(0, round)]) {
      const sample = await measurePolicy(group, fleet, policy, round, play);
      samples.push(sample);
      process.stdout.write(`replicas   ${JSON.stringify(sample)}\n`);
    }
  }
  await fleet.stop();
  return samples;
};

const sharedPromptKinds = ["chats", "predictions"] as const;
type SharedPromptKind = (typeof sharedPromptKinds)[number];

/**
 * All sessions have one system turn of 30 KB and send no session header. Chats still differ in their first user turn; predictions have
 * nothing that tells them apart.
 */
export const measureSharedPrompt = async (
  group: ProcessGroup,
  { replicas, model, sessions, steps }: ReplicasPlan,
): Promise<ReadonlyMap<SharedPromptKind, PolicySample>> => {
  const fleet = await startFleet(group, "shared-prompt", { replicas, model, processes: "one for all" });
  const samples = new Map<SharedPromptKind, PolicySample>();
  for (const kind of sharedPromptKinds) {
    const kindOfPrompts = { shared: true, grows: kind === "chats", sendsSession: false };
    const prompts = { ...ownPrompts, systemCharacters: 30_000, ...kindOfPrompts };
    const sample = await measurePolicy(group, fleet, "presage", 0, { sessions, steps, prompts });
    samples.set(kind, sample);
    process.stdout.write(`shared prompt, ${kind}  ${JSON.stringify(sample)}\n`);
  }
  await fleet.stop();
  return samples;
};

const measurePolicy = async (
  group: ProcessGroup,
  fleet: Fleet,
  policy: PolicyName,
  round: number,
  play: Pick<Play, "sessions" | "steps" | "prompts">,
): Promise<PolicySample> => {
  await fleet.clear();
  const cpuBeforeMs = readCpuMs(fleet.presage.pid);
  const deployments = policy === "presage" ? [fleet.all] : fleet.single;
  const { durationMs, steps } = await playSessions(group, fleet, { policy, deployments, ...play });
  const cpuMs = readCpuMs(fleet.presage.pid) - cpuBeforeMs;
  const { repeats, hits, samples } = await fleet.read();
  const latencies = steps.map(({ latencyMs }) => latencyMs);
  return {
    round,
    policy,
    stepsPerSecond: (steps.length / durationMs) * 1_000,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    hitShare: hits / repeats,
    imbalance: imbalanceOf(samples, play.sessions),
    presageCpuUsPerStep: (cpuMs * 1_000) / steps.length,
    failed: steps.filter(({ status }) => status !== 200).length,
  };
};

/** Counts while at least half of the sessions are waiting; at the start and end of a run there is nothing to balance. */
const imbalanceOf = (samples: readonly (readonly number[])[], sessions: number): number => {
  const ratios = samples.flatMap((loads) => {
    const total = loads.reduce((sum, load) => sum + load, 0);
    return total < sessions / 2 ? [] : [Math.max(...loads) / (total / loads.length)];
  });
  return quantile(ratios, 0.99);
};

const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
};

const messages = JSON.parse(expectedMessages) as { role: string; content: string }[];
const response: CompleteResponse<undefined> = { url: "", bytes: new Uint8Array(), read: undefined };
// `read` is never called here, and has no result.
const answerAtOnce = (async () => response) as unknown as Send;
const { signal } = new AbortController();

/** Calls that are answered immediately, from one session per call in flight; every other one has its session's key, the rest the prompt's. */
const openFleet = (replicas: number, { calls, inFlight }: ReplicasPlan["choosing"]) => {
  const urls = Array.from({ length: replicas }, (_, place) => `http://replica-${place}:8000/v1`);
  const options = { name: "default", urls, apiKey: undefined, model: "mock", timeoutMs: 60_000, retries: 2 };
  const fleet = createReplicas(options, () => answerAtOnce);
  const sessions = Array.from({ length: inFlight }, (_, place) =>
    place % 2 === 0 ? undefined : { name: "x-session-id", value: `rollout-${place}` },
  );
  const call = (session: (typeof sessions)[number]): Promise<CompleteResponse<void>> => {
    const key = fleet.needKeys ? routingKeyOf({ messages }, session) : 0;
    return fleet.send({ method: "POST", path: "/chat/completions", read: () => {}, signal, session, key });
  };
  return async (): Promise<number> => {
    const before = process.cpuUsage();
    for (let done = 0; done < calls; done += inFlight) await Promise.all(sessions.map(call));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / calls;
  };
};

/**
 * What it costs to choose among replicas and to keep account of them, in this process and without any connection: in each round, the
 * microseconds of processor time of a call beyond those of a call to the only replica.
 */
export const measureChoosing = async (plan: ReplicasPlan["choosing"]): Promise<number[]> => {
  const [one, many] = [openFleet(1, plan), openFleet(plan.replicas, plan)];
  await one();
  await many();
  const addedUs: number[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    const ofOne = await one();
    addedUs.push((await many()) - ofOne);
  }
  return addedUs;
};
