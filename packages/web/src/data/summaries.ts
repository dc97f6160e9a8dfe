import type { EvaluationSummaryGroup, Presage, SummaryRequest } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";
import { daysBefore, firstDayOf, type Period } from "./period.ts";

/** What came of the evaluations of some UTC days. Undefined stands for none. */
export interface PeriodSummary {
  period: Period;
  /** The first of the days. */
  since: string;
  /** When it was asked for, which is in the last of the days. */
  untilMs: number;
  all: EvaluationSummaryGroup | undefined;
  /** Of as many days before. */
  before: EvaluationSummaryGroup | undefined;
  byDay: EvaluationSummaryGroup[];
  byEvaluator: EvaluationSummaryGroup[];
  /** How many evaluations lacked a text that they need, by evaluator. The rest of those without a verdict failed. */
  lackedInput: ReadonlyMap<string, number>;
}

/** Whole UTC days only: those are counted already, however many evaluations there are. */
export function periodSummaryQuery(presage: Presage, period: Period) {
  return queryOptions({
    queryKey: ["summaries", "period", period],
    async queryFn({ signal }): Promise<PeriodSummary> {
      const untilMs = Date.now();
      const since = firstDayOf(period, untilMs);
      const earlier = daysBefore(period, untilMs);
      const groupsOf = async (request: SummaryRequest) =>
        (await presage.results.summarise(request, { signal })).groups;
      const [[all], [before], byDay, byEvaluator, lacking] = await Promise.all([
        groupsOf({ after_datetime: since }),
        groupsOf({ after_datetime: earlier.since, before_datetime: earlier.until }),
        groupsOf({ after_datetime: since, group_by: ["day"] }),
        groupsOf({ after_datetime: since, group_by: ["evaluator"] }),
        groupsOf({ after_datetime: since, group_by: ["evaluator"], status: "validation_error" }),
      ]);
      const lackedInput = new Map(lacking.map(({ key, count }) => [key.evaluator_id ?? "", count]));
      return { period, since, untilMs, all, before, byDay, byEvaluator, lackedInput };
    },
  });
}

/** How many evaluations there ever were. */
export function evaluationCountQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["summaries", "count"],
    queryFn: async ({ signal }) => (await presage.results.summarise({}, { signal })).groups[0]?.count ?? 0,
  });
}
