import { watch } from "../lib/load.ts";
import type { ProcessGroup } from "../lib/processes.ts";
import {
  type Fleet,
  type Play,
  type Prompts,
  playSessions,
  type ReplicasPlan,
  type Step,
  startFleet,
} from "./fleet.ts";

/** A few replicas, and enough sessions to keep them busy. */
export const fewReplicas = 4;
export const fewSessions = 128;
const fewPrompts: Prompts = {
  systemCharacters: 8_000,
  stepCharacters: 100,
  shared: false,
  grows: true,
  sendsSession: true,
};

/** Endless sessions: otherwise they would all end and restart at the same time. */
const playFor = (durationMs: number, deployment: string): Play => ({
  policy: "presage",
  deployments: [deployment],
  prompts: fewPrompts,
  sessions: fewSessions,
  steps: Number.MAX_SAFE_INTEGER,
  durationMs,
});

const haveFailed = (steps: readonly Step[]): Step[] => steps.filter(({ status }) => status !== 200);

export interface SlowResult {
  /** Steps a second in each round: with one replica ten times as slow, and with only the others. */
  readonly withSlow: number;
  readonly withoutSlow: number;
}

/** One replica is ten times as slow as the others: does it drag them down? */
export const measureSlow = async (
  group: ProcessGroup,
  { model, slow: { rounds, durationMs } }: ReplicasPlan,
): Promise<SlowResult[]> => {
  const fleet = await startFleet(group, "slow", { replicas: fewReplicas, model, processes: "one for all" });
  const [slowPort = 0] = fleet.ports;
  await fleet.setSlowness(slowPort, 10);
  const measure = async (deployment: string) => {
    const { steps } = await playSessions(group, fleet, playFor(durationMs, deployment));
    const endMs = Math.max(...steps.map(({ endedAtMs }) => endedAtMs));
    // Before this, Presage learns which replica is slow.
    const counted = steps.filter(({ endedAtMs }) => endedAtMs > endMs - durationMs / 2);
    return counted.length / (durationMs / 2_000);
  };
  const results: SlowResult[] = [];
  while (results.length < rounds) {
    const result = { withSlow: await measure(fleet.all), withoutSlow: await measure(fleet.others) };
    results.push(result);
    process.stdout.write(`one slow   ${JSON.stringify(result)}\n`);
  }
  await fleet.stop();
  return results;
};

export interface KillResult {
  readonly steps: number;
  readonly failed: number;
  readonly ejectedAfterMs: number;
  /** The share of other replicas' sessions' steps that stayed at the replica of the step before: during the outage, and after it. */
  readonly stayedWhileOut: number;
  readonly stayedOnceBack: number;
  readonly upAfterMs: number;
  /** Its maximum of requests in flight after its start, divided by the mean of all replicas. */
  readonly mostOnceBack: number;
}

/** `kill -9` of one of four replicas under load, and its start at the same address some seconds later. */
export const measureKill = async (
  group: ProcessGroup,
  { model, kill: { killAtMs, startAtMs, durationMs } }: ReplicasPlan,
): Promise<KillResult> => {
  const fleet = await startFleet(group, "kill", { replicas: fewReplicas, model, processes: "one each" });
  const [killedPort = 0] = fleet.ports;
  const playing = playSessions(group, fleet, playFor(durationMs, fleet.all));
  const sights: Sight[] = [];
  const watching = watch(20, async () => {
    sights.push(...(await lookAt(fleet, killedPort)));
  });
  await Bun.sleep(killAtMs);
  const killedAtMs = Date.now();
  await fleet.kill(killedPort);
  await Bun.sleep(startAtMs - killAtMs);
  await fleet.start(killedPort);
  const startedAtMs = Date.now();
  const { steps } = await playing;
  await watching.stop();
  await fleet.stop();

  const first = (state: string, fromMs: number) =>
    (sights.find((sight) => sight.atMs >= fromMs && sight.state === state)?.atMs ?? Number.NaN) - fromMs;
  const upAfterMs = first("up", startedAtMs);
  const stays = staysOfOthers(steps, killedPort, killedAtMs);
  const result = {
    steps: steps.length,
    failed: haveFailed(steps).length,
    ejectedAfterMs: first("ejected", killedAtMs),
    stayedWhileOut: shareOf(stays.filter(({ atMs }) => atMs < startedAtMs + upAfterMs)),
    stayedOnceBack: shareOf(stays.filter(({ atMs }) => atMs >= startedAtMs + upAfterMs)),
    upAfterMs,
    mostOnceBack: Math.max(
      ...sights.flatMap(({ atMs, share }) => (share !== undefined && atMs >= startedAtMs ? [share] : [])),
    ),
  };
  process.stdout.write(`kill -9    ${JSON.stringify(result)}\n`);
  return result;
};

interface Stay {
  readonly atMs: number;
  readonly stayed: boolean;
}

/** For each later step of a session that was not at the killed replica: whether the replica of the step before answered it. */
const staysOfOthers = (steps: readonly Step[], killedPort: number, killedAtMs: number): Stay[] => {
  const last = new Map<number, number>();
  const wereThere = new Set<number>();
  const stays: Stay[] = [];
  for (const { session, answerer, endedAtMs } of steps) {
    const before = last.get(session);
    last.set(session, answerer);
    if (endedAtMs < killedAtMs) {
      if (answerer === killedPort) wereThere.add(session);
      else wereThere.delete(session);
    } else if (before !== undefined && !wereThere.has(session))
      stays.push({ atMs: endedAtMs, stayed: answerer === before });
  }
  return stays;
};

const shareOf = (stays: readonly Stay[]): number =>
  stays.filter(({ stayed }) => stayed).length / stays.length;

interface Sight {
  readonly atMs: number;
  readonly state: string;
  /** Requests in flight over the mean of all; undefined while less than half of the sessions wait, as there is nothing to balance. */
  readonly share: number | undefined;
}

/** What Presage reports about a replica. */
const lookAt = async ({ chat, all }: Fleet, port: number): Promise<Sight[]> => {
  const response = await fetch(new URL("/v1/deployments", chat.url), { headers: chat.headers });
  const { data } = (await response.json()) as {
    data: { name: string; replicas: { url: string; state: string; in_flight: number }[] }[];
  };
  const replicas = data.find(({ name }) => name === all)?.replicas ?? [];
  const total = replicas.reduce((sum, { in_flight }) => sum + in_flight, 0);
  const one = replicas.find(({ url }) => url.includes(`:${port}/`));
  if (one === undefined) return [];
  const share = total >= fewSessions / 2 ? (one.in_flight / total) * replicas.length : undefined;
  return [{ atMs: Date.now(), state: one.state, share }];
};

export interface OutageResult {
  /** Clients' requests while every replica was down, and the requests sent to the replicas for them. */
  readonly requests: number;
  readonly sent: number;
  /** From the start of the replicas until a request was answered, and until no more failed. */
  readonly firstAnswerAfterMs: number;
  readonly lastFailureAfterMs: number;
}

/** `kill -9` of all replicas, and their start half a minute later. Clients repeat failed requests, with a pause. */
export const measureOutage = async (
  group: ProcessGroup,
  { model, outage: { beforeMs, lastsMs, afterMs } }: ReplicasPlan,
): Promise<OutageResult> => {
  const fleet = await startFleet(group, "outage", { replicas: fewReplicas, model, processes: "one each" });
  const playing = playSessions(group, fleet, playFor(beforeMs + lastsMs + afterMs, fleet.all));
  await Bun.sleep(beforeMs);
  await Promise.all(fleet.ports.map(fleet.kill));
  const killedAtMs = Date.now();
  const sentBefore = await countSent(fleet);
  await Bun.sleep(lastsMs);
  const sentAfter = await countSent(fleet);
  const endedAtMs = Date.now();
  await Promise.all(fleet.ports.map(fleet.start));
  const startedAtMs = Date.now();
  const { steps } = await playing;
  await fleet.stop();

  const during = steps.filter((step) => step.endedAtMs > killedAtMs && step.endedAtMs <= endedAtMs);
  const after = steps.filter((step) => step.endedAtMs > endedAtMs);
  const answers = after.filter(({ status }) => status === 200).map((step) => step.endedAtMs);
  const failures = haveFailed(after).map((step) => step.endedAtMs);
  const result = {
    requests: during.length,
    sent: sentAfter - sentBefore,
    firstAnswerAfterMs: Math.max(0, Math.min(...answers) - startedAtMs),
    lastFailureAfterMs: Math.max(0, ...failures.map((atMs) => atMs - startedAtMs)),
  };
  process.stdout.write(`outage     ${JSON.stringify(result)}\n`);
  return result;
};

/** The number of requests that Presage has sent to all replicas. */
const countSent = async ({ chat, all }: Fleet): Promise<number> => {
  const text = await (await fetch(new URL("/metrics", chat.url))).text();
  const counts = text.matchAll(
    new RegExp(`^presage_replica_requests_total\\{deployment="${all}".*\\} (\\d+)$`, "gm"),
  );
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
};
