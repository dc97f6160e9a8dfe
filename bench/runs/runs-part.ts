import type { Part } from "../part.ts";
import { findProblems } from "../report/problems.ts";
import { fullRunsPlan, quickRunsPlan } from "./plan-runs.ts";
import { runRuns } from "./run-runs.ts";
import { judgeRuns, writeRuns } from "./write-runs.ts";

export const runsPart: Part = {
  title: "Data sets, runs and reports",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickRunsPlan : fullRunsPlan;
    const result = await runRuns(group, await upstream(), plan);
    return {
      goals: judgeRuns(result, plan),
      problems: findProblems(result.live, ({ round }) => `predictions beside a run, round ${round + 1}`),
      text: writeRuns(result, plan),
    };
  },
};
