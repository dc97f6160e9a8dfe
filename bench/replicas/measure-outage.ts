import type { ProcessGroup } from "../processes.ts";
import { fewPrompts, fewReplicas, fewSessions, type ReplicasPlan } from "./plan-replicas.ts";
import { playSessions } from "./play-sessions.ts";
import { type Fleet, startFleet } from "./start-fleet.ts";

export interface OutageResult {
  /** Clients' requests while every replica was down, and what was sent to the replicas for them. */
  readonly requests: number;
  readonly sent: number;
  /** From the start of the replicas until a request was answered, and until none failed any more. */
  readonly firstAnswerAfterMs: number;
  readonly lastFailureAfterMs: number;
}

/** `kill -9` of all replicas, and their start half a minute later. Clients repeat what failed, with a pause. */
export const measureOutage = async (
  group: ProcessGroup,
  { model, outage: { beforeMs, lastsMs, afterMs } }: ReplicasPlan,
): Promise<OutageResult> => {
  const fleet = await startFleet(group, "outage", { replicas: fewReplicas, model, processes: "one each" });
  const playing = playSessions(group, fleet, {
    policy: "presage",
    deployments: [fleet.all],
    prompts: fewPrompts,
    sessions: fewSessions,
    steps: Number.MAX_SAFE_INTEGER,
    durationMs: beforeMs + lastsMs + afterMs,
  });
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
  const failures = after.filter(({ status }) => status !== 200).map((step) => step.endedAtMs);
  const result = {
    requests: during.length,
    sent: sentAfter - sentBefore,
    firstAnswerAfterMs: Math.max(0, Math.min(...answers) - startedAtMs),
    lastFailureAfterMs: Math.max(0, ...failures.map((atMs) => atMs - startedAtMs)),
  };
  process.stdout.write(`outage     ${JSON.stringify(result)}\n`);
  return result;
};

/** How many requests Presage has sent to the replicas of all. */
const countSent = async ({ chat, all }: Fleet): Promise<number> => {
  const text = await (await fetch(new URL("/metrics", chat.url))).text();
  const counts = text.matchAll(
    new RegExp(`^presage_replica_requests_total\\{deployment="${all}".*\\} (\\d+)$`, "gm"),
  );
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
};
