import type { Part } from "../../part.ts";
import { findProblems } from "../../report/problems.ts";
import { judgeProcesses } from "./judge-processes.ts";
import { fullProcessesPlan, measureProcesses, quickProcessesPlan } from "./measure-processes.ts";
import { writeProcesses } from "./write-processes.ts";

export const processesPart: Part = {
  title: "Evaluations: several processes on one PostgreSQL",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickProcessesPlan : fullProcessesPlan;
    const result = await measureProcesses(group, (await upstream()).origin, plan);
    return {
      goals: judgeProcesses(result, plan),
      problems: findProblems(
        result.samples,
        ({ processes, round }) => `${processes} processes, round ${round + 1}`,
      ),
      text: writeProcesses(result, plan),
    };
  },
};
