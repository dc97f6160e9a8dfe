import type { EvaluationSummaryGroup, Presage, SummaryRequest } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";
import { type Period, periodBefore, periodBounds, wholeDaysAndRest } from "../../format/times.ts";
import { addUp, byRate, ofDirect, rateId, type Totals } from "../figures/rate-group.ts";

/** How often figures up to now are loaded again: intervals over a million clustered results take seconds. */
export const summaryRefreshMs = 120_000;

/** The direct evaluations of a period. */
export interface PeriodSummary {
  since: string;
  all: Totals;
  /** Of the previous period. */
  before: Totals;
  /** One for each evaluator and revision of a profile. */
  rates: EvaluationSummaryGroup[];
  /** Evaluations without the input they need, by rate. The others without a verdict are errors. */
  lackedInput: ReadonlyMap<string, number>;
}

/** The same periods as those of the usage. */
export function periodSummaryQuery(presage: Presage, period: Period) {
  return queryOptions({
    queryKey: ["summaries", "period", period],
    async queryFn({ signal }): Promise<PeriodSummary> {
      const nowMs = Date.now();
      const { since } = periodBounds(period, nowMs);
      const groupsOf = async (request: SummaryRequest) =>
        (await presage.results.summarise({ ...request, has_run: false }, { signal })).groups;
      const [rates, lacking, ...before] = await Promise.all([
        groupsOf({ after_datetime: justBefore(since), ...ofDirect }),
        groupsOf({
          after_datetime: justBefore(since),
          group_by: [...byRate],
          status: "validation_error",
          intervals: false,
        }),
        ...wholeDaysAndRest(periodBefore(period, nowMs)).map(({ since, until }) =>
          groupsOf({ after_datetime: justBefore(since), before_datetime: until, intervals: false }),
        ),
      ]);
      const lackedInput = new Map(lacking.map(({ key, count }) => [rateId(key), count]));
      return { since, all: addUp(rates), before: addUp(before.flat()), rates, lackedInput };
    },
  });
}

/** The figures of a period, one for each evaluator and revision of a profile, for one profile or for all; `used` has runs as well. */
export function periodRatesQuery(presage: Presage, period: Period, profileId?: string) {
  return queryOptions({
    queryKey: ["summaries", "rates", period, profileId ?? "all"],
    async queryFn({ signal }) {
      const { since } = periodBounds(period, Date.now());
      const filter = { after_datetime: justBefore(since), evaluator_profile_public_id: profileId };
      const [direct, used] = await Promise.all([
        presage.results.summarise({ ...filter, ...ofDirect }, { signal }),
        presage.results.summarise({ ...filter, group_by: [...byRate], intervals: false }, { signal }),
      ]);
      return { direct: direct.groups, used: used.groups };
    },
  });
}

export interface RateByDay {
  /** The first day. */
  since: string;
  /** When it was requested, which is on the last day. */
  untilMs: number;
  days: EvaluationSummaryGroup[];
}

/** The pass rate of direct evaluations by one evaluator with one revision of a profile, by UTC day. */
export function rateByDayQuery(presage: Presage, period: Period, rate: EvaluationSummaryGroup["key"]) {
  const { evaluator_id, evaluator_profile_public_id } = rate;
  return queryOptions({
    queryKey: ["summaries", "by day", period, rateId(rate)],
    async queryFn({ signal }): Promise<RateByDay> {
      const untilMs = Date.now();
      const { since } = periodBounds(period, untilMs);
      const request: SummaryRequest = {
        after_datetime: justBefore(since),
        evaluator_id,
        evaluator_profile_public_id,
        ...ofDirect,
        group_by: [...ofDirect.group_by, "day"],
      };
      const { groups } = await presage.results.summarise(request, { signal });
      return { since, untilMs, days: groups.filter(({ key }) => rateId(key) === rateId(rate)) };
    },
  });
}

/** The number of evaluations ever made. */
export function evaluationCountQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["summaries", "count"],
    queryFn: async ({ signal }) =>
      (await presage.results.summarise({ intervals: false }, { signal })).groups[0]?.count ?? 0,
  });
}

/** Results are stored at whole milliseconds, and `after_datetime` leaves out those of its own. */
function justBefore(since: string): string {
  return new Date(Date.parse(since) - 1).toISOString();
}
