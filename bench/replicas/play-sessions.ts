import { join } from "node:path";
import { benchDirectory } from "../paths.ts";
import type { ProcessGroup } from "../processes.ts";
import type { Fleet } from "./start-fleet.ts";

/** How a request's replica is chosen: by Presage, or by the load generator. */
export const policyNames = [
  "presage",
  "random",
  "round robin",
  "least in flight",
  "power of two",
  "hash of the session",
] as const;
export type PolicyName = (typeof policyNames)[number];

export interface Prompts {
  readonly systemCharacters: number;
  readonly stepCharacters: number;
  /** Whether all sessions have the same system turn. */
  readonly shared: boolean;
  /** Whether a step's prompt has all steps before it, as in a chat, or the system turn and this step only. */
  readonly grows: boolean;
  readonly sendsSession: boolean;
}

export interface Play {
  readonly policy: PolicyName;
  /** What the load generator chooses from; for Presage, the one deployment that has the replicas. */
  readonly deployments: readonly string[];
  readonly prompts: Prompts;
  readonly sessions: number;
  readonly steps: number;
  /** If given, sessions begin anew after their last step until this time is over. */
  readonly durationMs?: number;
}

export interface Step {
  readonly endedAtMs: number;
  readonly session: number;
  readonly trajectory: number;
  readonly step: number;
  /** 0 if there was no response. */
  readonly status: number;
  /** The port of the replica that answered. */
  readonly answerer: number;
  readonly latencyMs: number;
}

export interface Played {
  readonly durationMs: number;
  readonly steps: readonly Step[];
}

/** Between an answer and the next step, on average: the agent's own model. */
const thinkMs = 100;
/** After a failure. */
const pauseMs = 200;

let runs = 0;

export const playSessions = async (group: ProcessGroup, fleet: Fleet, play: Play): Promise<Played> => {
  // A session's name is its key, and no run may find another's prefixes.
  runs += 1;
  const { url, headers } = fleet.chat;
  const { stdout, stderr, exitCode } = await group.runCommand({
    argv: ["node", join(benchDirectory, "replicas", "session-client.mjs")],
    input: JSON.stringify({ ...play, url, headers, thinkMs, pauseMs, run: runs }),
  });
  if (exitCode !== 0) throw new Error(`the client of the sessions failed: ${stderr}`);
  const { durationMs, events } = JSON.parse(stdout) as {
    durationMs: number;
    events: [number, number, number, number, number, number, number][];
  };
  return {
    durationMs,
    steps: events.map(([endedAtMs, session, trajectory, step, status, answerer, latencyMs]) => ({
      endedAtMs,
      session,
      trajectory,
      step,
      status,
      answerer,
      latencyMs,
    })),
  };
};
