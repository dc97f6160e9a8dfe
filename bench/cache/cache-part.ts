import type { Part } from "../part.ts";
import { findProblems } from "../report/problems.ts";
import { fullCachePlan, measureCache, quickCachePlan } from "./measure-cache.ts";
import { judgeCache, writeCache } from "./write-cache.ts";

export const cachePart: Part = {
  title: "Predictions from the cache",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickCachePlan : fullCachePlan;
    const samples = await measureCache(group, await upstream(), plan);
    return {
      goals: judgeCache(samples),
      problems: findProblems(samples, ({ kind, round }) => `${kind}, round ${round + 1}`),
      text: writeCache(samples, plan),
    };
  },
};
