import type { Part } from "../part.ts";
import { judgeDashboard } from "./judge-dashboard.ts";
import { fullDashboardPlan, quickDashboardPlan } from "./plan-dashboard.ts";
import { runDashboard } from "./run-dashboard.ts";
import { writeDashboard } from "./write-dashboard.ts";

export const dashboardPart: Part = {
  title: "The dashboard",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickDashboardPlan : fullDashboardPlan;
    const result = await runDashboard(group, (await upstream()).origin, plan);
    return {
      goals: judgeDashboard(result, plan),
      problems: "notMeasured" in result ? [] : result.problems,
      text: writeDashboard(result, plan),
    };
  },
};
