import type { EvaluationSummaryGroup, Presage, SummaryRequest } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";
import { daysBefore, firstDayOf, type Period } from "./period.ts";

/** Totals of the evaluations in a range of UTC days. Undefined: there were none. */
export interface PeriodSummary {
  period: Period;
  /** The first day. */
  since: string;
  /** When it was requested, which is on the last day. */
  untilMs: number;
  all: EvaluationSummaryGroup | undefined;
  /** The same number of days before. */
  before: EvaluationSummaryGroup | undefined;
  byDay: EvaluationSummaryGroup[];
  byEvaluator: EvaluationSummaryGroup[];
  /** Evaluations without the input they need, by evaluator. The others without a verdict ended in an error. */
  lackedInput: ReadonlyMap<string, number>;
}

/** Whole UTC days only: their totals are precomputed, so this is fast for any number of evaluations. */
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

/** The number of evaluations ever made. */
export function evaluationCountQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["summaries", "count"],
    queryFn: async ({ signal }) => (await presage.results.summarise({}, { signal })).groups[0]?.count ?? 0,
  });
}
