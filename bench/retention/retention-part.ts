import type { Part } from "../part.ts";
import { fullRetentionPlan, quickRetentionPlan } from "./plan-retention.ts";
import { runRetention } from "./run-retention.ts";
import { judgeRetention, writeRetention } from "./write-retention.ts";

export const retentionPart: Part = {
  title: "Retention",
  measure: async ({ group, upstream, quick, results, minutes, database }) => {
    const usual = quick ? quickRetentionPlan : fullRetentionPlan;
    const plan = {
      ...usual,
      results: results ?? usual.results,
      mostS: minutes === undefined ? usual.mostS : minutes * 60,
    };
    const samples = await runRetention(group, await upstream(), plan, database);
    const problems = samples.flatMap(({ problem }) => problem ?? []);
    return { goals: judgeRetention(samples, plan), problems, text: writeRetention(samples, plan) };
  },
};
