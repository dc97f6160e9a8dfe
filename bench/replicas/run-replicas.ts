import type { ProcessGroup } from "../processes.ts";
import {
  comparePolicies,
  measureSharedPrompt,
  type PolicySample,
  type SharedPromptKind,
} from "./compare-policies.ts";
import { type ChoosingSample, measureChoosing } from "./measure-choosing.ts";
import { type KillResult, measureKill } from "./measure-kill.ts";
import { measureOutage, type OutageResult } from "./measure-outage.ts";
import { measureSlow, type SlowResult } from "./measure-slow.ts";
import type { ReplicasPlan } from "./plan-replicas.ts";

export interface ReplicasResult {
  readonly policies: readonly PolicySample[];
  readonly sharedPrompt: ReadonlyMap<SharedPromptKind, PolicySample>;
  readonly slow: readonly SlowResult[];
  readonly kill: KillResult;
  readonly outage: OutageResult;
  readonly choosing: readonly ChoosingSample[];
}

export const runReplicas = async (group: ProcessGroup, plan: ReplicasPlan): Promise<ReplicasResult> => ({
  policies: await comparePolicies(group, plan),
  sharedPrompt: await measureSharedPrompt(group, plan),
  slow: await measureSlow(group, plan),
  kill: await measureKill(group, plan),
  outage: await measureOutage(group, plan),
  choosing: await measureChoosing(plan.choosing),
});

/** Requests that failed where none may. */
export const findReplicasProblems = ({ policies, sharedPrompt, kill }: ReplicasResult): string[] => [
  ...[...policies, ...sharedPrompt.values()].flatMap(({ policy, round, failed }) =>
    failed === 0 ? [] : [`replicas, ${policy}, round ${round + 1}: ${failed} steps failed`],
  ),
  ...(kill.failed === 0 ? [] : [`replicas, kill -9: ${kill.failed} steps failed`]),
];
