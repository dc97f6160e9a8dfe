import type { ProcessGroup } from "../processes.ts";
import { fewPrompts, fewReplicas, fewSessions, type ReplicasPlan } from "./plan-replicas.ts";
import { playSessions, type Step } from "./play-sessions.ts";
import { type Fleet, startFleet } from "./start-fleet.ts";

export interface KillResult {
  readonly steps: number;
  readonly failed: number;
  readonly ejectedAfterMs: number;
  /** Of the steps of sessions that were elsewhere, those that stayed where the step before was: while it was out, and after it was back. */
  readonly stayedWhileOut: number;
  readonly stayedOnceBack: number;
  readonly upAfterMs: number;
  /** Its most requests in flight after its start, over the mean of all. */
  readonly mostOnceBack: number;
}

interface Sight {
  readonly atMs: number;
  readonly state: string;
  /** Requests in flight over the mean of all; undefined while less than half of the sessions wait, as there is nothing to balance. */
  readonly share: number | undefined;
}

const watchEveryMs = 20;

/** `kill -9` of one of four replicas under load, and its start at the same address some seconds later. */
export const measureKill = async (
  group: ProcessGroup,
  { model, kill: { killAtMs, startAtMs, durationMs } }: ReplicasPlan,
): Promise<KillResult> => {
  const fleet = await startFleet(group, "kill", { replicas: fewReplicas, model, processes: "one each" });
  const [killedPort = 0] = fleet.ports;
  const playing = playSessions(group, fleet, {
    policy: "presage",
    deployments: [fleet.all],
    prompts: fewPrompts,
    sessions: fewSessions,
    steps: Number.MAX_SAFE_INTEGER,
    durationMs,
  });
  const watch = watchReplica(fleet, killedPort);
  await Bun.sleep(killAtMs);
  const killedAtMs = Date.now();
  await fleet.kill(killedPort);
  await Bun.sleep(startAtMs - killAtMs);
  await fleet.start(killedPort);
  const startedAtMs = Date.now();
  const { steps } = await playing;
  const sights = await watch.stop();
  await fleet.stop();

  const first = (state: string, fromMs: number) =>
    (sights.find((sight) => sight.atMs >= fromMs && sight.state === state)?.atMs ?? Number.NaN) - fromMs;
  const upAfterMs = first("up", startedAtMs);
  const stays = staysOfOthers(steps, killedPort, killedAtMs);
  const result = {
    steps: steps.length,
    failed: steps.filter(({ status }) => status !== 200).length,
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

/** Of each step after the kill of a session that was not at the killed replica: was it answered where the one before was? */
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

/** What Presage says of a replica, every few milliseconds. */
const watchReplica = ({ chat, all }: Fleet, port: number) => {
  const sights: Sight[] = [];
  let isOver = false;
  const look = async (): Promise<void> => {
    const response = await fetch(new URL("/v1/deployments", chat.url), { headers: chat.headers });
    const { data } = (await response.json()) as {
      data: { name: string; replicas: { url: string; state: string; in_flight: number }[] }[];
    };
    const replicas = data.find(({ name }) => name === all)?.replicas ?? [];
    const total = replicas.reduce((sum, { in_flight }) => sum + in_flight, 0);
    const one = replicas.find(({ url }) => url.includes(`:${port}/`));
    if (one === undefined) return;
    const isBusy = total >= fewSessions / 2;
    const share = isBusy ? (one.in_flight / total) * replicas.length : undefined;
    sights.push({ atMs: Date.now(), state: one.state, share });
  };
  const watching = (async () => {
    while (!isOver) {
      await look();
      await Bun.sleep(watchEveryMs);
    }
  })();
  return {
    stop: async (): Promise<readonly Sight[]> => {
      isOver = true;
      await watching;
      return sights;
    },
  };
};
