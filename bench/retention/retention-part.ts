import type { Part } from "../part.ts";
import { fullRetentionPlan, quickRetentionPlan } from "./plan-retention.ts";
import { runRetention } from "./run-retention.ts";
import { judgeRetention, writeRetention } from "./write-retention.ts";

export const retentionPart: Part = {
  title: "Retention",
  measure: async ({ group, upstream, quick, results }) => {
    const planned = quick ? quickRetentionPlan : fullRetentionPlan;
    const plan = { ...planned, results: results ?? planned.results };
    const samples = await runRetention(group, await upstream(), plan);
    const problems = samples.flatMap(({ database, beside, isComplete }) => [
      ...(isComplete ? [] : [`${database}: not everything was deleted in time.`]),
      ...(beside.failed === 0 ? [] : [`${database}: ${beside.failed} evaluations failed meanwhile.`]),
    ]);
    return { goals: judgeRetention(samples, plan), problems, text: writeRetention(samples, plan) };
  },
};
