import type { ChoosingPlan } from "./measure-choosing.ts";
import type { Prompts } from "./play-sessions.ts";
import type { ReplicaModel } from "./start-fleet.ts";

/** Where a replica fails, a few of them and enough sessions to keep them busy. */
export const fewReplicas = 4;
export const fewSessions = 128;
export const fewPrompts: Prompts = {
  systemCharacters: 8_000,
  stepCharacters: 100,
  shared: false,
  grows: true,
  sendsSession: true,
};

export interface ReplicasPlan {
  readonly rounds: number;
  readonly replicas: number;
  readonly sessions: number;
  readonly steps: number;
  readonly model: ReplicaModel;
  readonly slow: { readonly rounds: number; readonly durationMs: number };
  readonly kill: { readonly killAtMs: number; readonly startAtMs: number; readonly durationMs: number };
  readonly choosing: ChoosingPlan;
  readonly outage: { readonly beforeMs: number; readonly lastsMs: number; readonly afterMs: number };
}

export const fullReplicasPlan: ReplicasPlan = {
  rounds: 3,
  replicas: 8,
  sessions: 512,
  steps: 20,
  // One and a half times what a replica needs if every session stays.
  model: { batch: 2, trajectories: 96 },
  slow: { rounds: 3, durationMs: 8_000 },
  kill: { killAtMs: 8_000, startAtMs: 14_000, durationMs: 38_000 },
  choosing: { rounds: 15, replicas: 16, inFlight: 256, calls: 20_480 },
  outage: { beforeMs: 4_000, lastsMs: 30_000, afterMs: 10_000 },
};

export const quickReplicasPlan: ReplicasPlan = {
  ...fullReplicasPlan,
  rounds: 1,
  slow: { rounds: 1, durationMs: 6_000 },
  outage: { beforeMs: 2_000, lastsMs: 8_000, afterMs: 6_000 },
};
