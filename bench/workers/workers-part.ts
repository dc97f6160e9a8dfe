import type { Part } from "../part.ts";
import { findProblems } from "../report/problems.ts";
import { fullWorkersPlan, measureWorkers, quickWorkersPlan } from "./measure-workers.ts";
import { judgeWorkers, writeWorkers } from "./write-workers.ts";

export const workersPart: Part = {
  title: "Predictions: several workers on one port",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickWorkersPlan : fullWorkersPlan;
    const result = await measureWorkers(group, await upstream(), plan);
    return {
      goals: judgeWorkers(result),
      problems: findProblems(
        result.samples,
        ({ arrangement, round }) => `${arrangement}, round ${round + 1}`,
      ),
      text: writeWorkers(result, plan),
    };
  },
};
