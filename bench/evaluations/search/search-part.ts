import type { Part } from "../../part.ts";
import { judgeSearch } from "./judge-search.ts";
import { measureSearch } from "./measure-search.ts";
import { fullSearchPlan, quickSearchPlan } from "./plan-search.ts";
import { writeSearches } from "./write-search.ts";

export const searchPart: Part = {
  title: "Searches and summaries",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickSearchPlan : fullSearchPlan;
    const { origin } = await upstream();
    const results = [
      await measureSearch(group, origin, "SQLite", plan),
      await measureSearch(group, origin, "PostgreSQL", plan),
    ];
    return {
      goals: results.flatMap((result) => judgeSearch(result, plan.sizes[result.database])),
      problems: results.flatMap(({ database, problems }) =>
        problems.map((problem) => `${database}: ${problem}`),
      ),
      text: writeSearches(results, plan),
    };
  },
};
