import type { Part } from "../part.ts";
import { findProblems } from "../report/problems.ts";
import { measureAccounts } from "./beside/measure-accounts.ts";
import { measureBeside } from "./beside/measure-beside.ts";
import { judgeAccounts, judgeThroughput } from "./judge-evaluations.ts";
import { fullEvaluationsPlan, quickEvaluationsPlan } from "./plan-evaluations.ts";
import { measureThroughput } from "./throughput/measure-throughput.ts";
import { writeAccounts, writeBeside, writeThroughput } from "./write-evaluations.ts";

export const evaluationsPart: Part = {
  title: "Evaluations",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickEvaluationsPlan : fullEvaluationsPlan;
    const throughput = await measureThroughput(group, (await upstream()).origin, plan.throughput);
    const beside = await measureBeside(group, await upstream(), plan.beside);
    const accounts = await measureAccounts(group, (await upstream()).origin, plan.accounts);
    return {
      goals: [judgeThroughput(throughput, plan.throughput), ...judgeAccounts(accounts, plan.accounts)],
      problems: [
        ...findProblems(
          throughput,
          ({ round, connections }) => `evaluations, round ${round + 1}, ${connections} connections`,
        ),
        ...findProblems(beside, ({ round }) => `predictions beside evaluations, round ${round + 1}`),
        ...findProblems(accounts, ({ crowd, round }) => `evaluations beside ${crowd}, round ${round + 1}`),
      ],
      text:
        writeThroughput(throughput, plan.throughput) +
        writeBeside(beside, plan.beside) +
        writeAccounts(accounts, plan.accounts),
    };
  },
};
