import type { EvaluationSummaryGroup, Presage, SummaryRequest } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";
import { type Period, periodBounds } from "../format/times.ts";
import { plainName } from "../format/words.ts";

/** One rate for each evaluator and profile revision: rates of different ones are never mixed. */
export const byRate = ["evaluator", "profile"] as const satisfies SummaryRequest["group_by"];

/**
 * `byRate` for direct evaluations only. Each run measures another predictor, for example a baseline, so a rate over several runs
 * has no meaning, and would change with the choice of runs.
 */
export const ofDirect = { has_run: false, group_by: [...byRate, "run"] } satisfies SummaryRequest;

type Key = EvaluationSummaryGroup["key"];

/** Identifies an evaluator with a revision of a profile, also in URLs. */
export function rateId(key: Key): string {
  const profile = key.evaluator_profile_public_id ?? key.profile_name ?? "";
  return [key.evaluator_id, profile, key.evaluator_profile_revision ?? ""].join("~");
}

/** The name and revision of a rate's profile; undefined if the rate has none. */
export function profileOf({ profile_name, evaluator_profile_revision: revision }: Key): string | undefined {
  if (!profile_name) return undefined;
  const name = plainName(profile_name);
  // Built-in profiles have only one revision.
  return revision == null || (revision === 1 && name !== profile_name) ? name : `${name} · r${revision}`;
}

/** “exact-match-2026-11-21, strict · r1” */
export function nameRate(key: Key): string {
  return [key.evaluator_id, profileOf(key)].filter((part) => part !== undefined).join(", ");
}

/** Sorts rates by their number of verdicts, greatest first. */
export function sortRates(groups: readonly EvaluationSummaryGroup[]): EvaluationSummaryGroup[] {
  return groups.toSorted((a, b) => verdictsOf(b) - verdictsOf(a) || b.count - a.count);
}

export function verdictsOf({ passed, not_passed }: EvaluationSummaryGroup): number {
  return passed + not_passed;
}

/** The filters for the results behind a rate; if grouped by run, only those of its run, or without a run. */
export function searchOfRate({
  evaluator_id,
  evaluator_profile_public_id: profileId,
  evaluator_profile_revision: revision,
  profile_name,
  evaluation_run_id: run,
}: Key): {
  evaluator?: string;
  profile?: string;
  profile_id?: string;
  revision?: number;
  run?: string;
  direct?: true;
} {
  return {
    ...(evaluator_id !== undefined && { evaluator: evaluator_id }),
    ...(profileId ? { profile_id: profileId } : profile_name && { profile: profile_name }),
    ...(revision && { revision }),
    ...(run === null ? { direct: true as const } : run !== undefined && { run }),
  };
}

/** The number of evaluations, and how many of them have no verdict. */
interface Totals {
  count: number;
  failed: number;
}

export function addUp(groups: readonly Totals[]): Totals {
  return groups.reduce(
    (sum, { count, failed }) => ({ count: sum.count + count, failed: sum.failed + failed }),
    { count: 0, failed: 0 },
  );
}

/** How often current figures are reloaded: intervals over a million clustered results take seconds. */
export const summaryRefreshMs = 120_000;

/** The figures of a period for each evaluator and profile revision, for one profile or for all; `used` includes runs. */
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
  /** The time of the request, which is on the last day. */
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

/** The number of evaluations so far. */
export function evaluationCountQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["summaries", "count"],
    queryFn: async ({ signal }) =>
      (await presage.results.summarise({ intervals: false }, { signal })).groups[0]?.count ?? 0,
  });
}

/** Results are stored with times in whole milliseconds, and `after_datetime` excludes the time that it names. */
function justBefore(since: string): string {
  return new Date(Date.parse(since) - 1).toISOString();
}
