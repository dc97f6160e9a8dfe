import type { ProcessGroup } from "../processes.ts";
import type { Upstream } from "../targets/start-upstream.ts";
import { type BesideSample, measureBeside } from "./beside/measure-beside.ts";
import type { EvaluationsPlan } from "./plan-evaluations.ts";
import { measureSearch, type SearchResult } from "./search/measure-search.ts";
import { measureThroughput, type ThroughputSample } from "./throughput/measure-throughput.ts";

export interface EvaluationsResult {
  readonly throughput: readonly ThroughputSample[];
  readonly beside: readonly BesideSample[];
  readonly search: readonly SearchResult[];
}

export const runEvaluations = async (
  group: ProcessGroup,
  upstream: Upstream,
  plan: EvaluationsPlan,
): Promise<EvaluationsResult> => ({
  throughput: await measureThroughput(group, upstream.origin, plan.throughput),
  beside: await measureBeside(group, upstream, plan.beside),
  search: [
    await measureSearch(group, upstream.origin, "SQLite", plan.search),
    await measureSearch(group, upstream.origin, "PostgreSQL", plan.search),
  ],
});

/** Problems that invalidate figures, one sentence each. */
export const findEvaluationProblems = ({ throughput, beside, search }: EvaluationsResult): string[] => [
  ...throughput.flatMap(({ round, problem }) =>
    problem === undefined ? [] : [`evaluations, round ${round + 1}: ${problem}`],
  ),
  ...beside.flatMap(({ round, problem }) =>
    problem === undefined ? [] : [`predictions beside evaluations, round ${round + 1}: ${problem}`],
  ),
  ...search.flatMap(({ database, problems }) => problems.map((problem) => `${database}: ${problem}`)),
];
