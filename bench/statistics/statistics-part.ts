import type { Part } from "../part.ts";
import { judgeStatistics } from "./judge-statistics.ts";
import { fullStatisticsPlan, quickStatisticsPlan } from "./plan-statistics.ts";
import { runStatistics } from "./run-statistics.ts";
import { writeStatistics } from "./write-statistics.ts";

/** Simulations with fixed seeds: the figures do not depend on the machine. */
export const statisticsPart: Part = {
  title: "Statistics: simulations",
  measure: async ({ quick }) => {
    const plan = quick ? quickStatisticsPlan : fullStatisticsPlan;
    const result = await runStatistics(plan);
    return { goals: judgeStatistics(result, plan), problems: [], text: writeStatistics(result, plan) };
  },
};
