import { type Figure, summarise } from "../report/figures.ts";
import type { PolicySample } from "./compare-policies.ts";
import type { PolicyName } from "./play-sessions.ts";
import type { ReplicasResult } from "./run-replicas.ts";

const samplesOf = ({ policies }: ReplicasResult, policy: PolicyName): PolicySample[] =>
  policies.filter((sample) => sample.policy === policy);

export const policyFigure = (
  result: ReplicasResult,
  policy: PolicyName,
  read: (sample: PolicySample) => number,
): Figure | undefined => summarise(samplesOf(result, policy).map(read));

/** Presage's steps a second as a ratio to another policy's, within each round. */
export const throughputRatio = (result: ReplicasResult, policy: PolicyName): Figure | undefined =>
  summarise(
    samplesOf(result, "presage").flatMap(({ round, stepsPerSecond }) => {
      const other = samplesOf(result, policy).find((sample) => sample.round === round);
      return other === undefined ? [] : [stepsPerSecond / other.stepsPerSecond];
    }),
  );

/** Microseconds that a call among several replicas takes beyond one to the only replica. */
export const choosingFigure = ({ choosing }: ReplicasResult): Figure | undefined =>
  summarise(choosing.map(({ cpuUsPerCall }) => cpuUsPerCall));

/** Steps a second with one slow replica as a ratio to those of the others alone, within each round. */
export const slowRatio = ({ slow }: ReplicasResult): Figure | undefined =>
  summarise(slow.map(({ withSlow, withoutSlow }) => withSlow / withoutSlow));
