import { hasFailed } from "../evaluators/outcome.ts";
import { jackknifeError, momentsOfClusters, rateInterval } from "../platform/statistics/intervals.ts";
import { printable } from "../platform/words.ts";
import type { Outcome } from "./evaluate-line.ts";
import { type Column, textTable } from "./text-table.ts";

/** Counts of one evaluator with one profile over a file. */
export interface OutcomeCounts {
  name: string;
  passed: number;
  notPassed: number;
  failed: number;
  /** Verdicts with a score. */
  graded: number;
  scoreSum: number;
  /** Verdicts and passes by cluster: verdicts of one are not independent of each other. */
  clusters: Map<number | null, { count: number; sum: number }>;
}

/** The evaluator, without the date of its version, and the profile of an outcome. */
export function outcomeName({
  evaluator_id,
  profile_name,
}: Pick<Outcome, "evaluator_id" | "profile_name">): string {
  return `${evaluator_id.replace(/-\d{4}-\d{2}-\d{2}$/, "")} ${profile_name}`;
}

/** Adds one evaluation, of a line in `cluster`, to the counts of its evaluator and profile. */
export function countOutcome(
  counts: Map<string, OutcomeCounts>,
  outcome: Outcome,
  cluster: number | null,
): void {
  // Two versions of an evaluator are not counted together.
  const id = `${outcome.evaluator_id} ${outcome.profile_name}`;
  const name = outcomeName(outcome);
  const of: OutcomeCounts = counts.get(id) ?? {
    name,
    ...{ passed: 0, notPassed: 0, failed: 0, graded: 0, scoreSum: 0 },
    clusters: new Map(),
  };
  counts.set(id, of);
  if (outcome.status !== "success") {
    if (hasFailed(outcome)) of.failed += 1;
    return;
  }
  const passed = outcome.pass === true ? 1 : 0;
  of.passed += passed;
  of.notPassed += 1 - passed;
  of.graded += outcome.score_raw === null ? 0 : 1;
  of.scoreSum += outcome.score_raw ?? 0;
  const inCluster = of.clusters.get(cluster) ?? { count: 0, sum: 0 };
  of.clusters.set(cluster, {
    count: inCluster.count + 1,
    sum: inCluster.sum + passed,
  });
}

/** The share of verdicts that are passes; undefined where all evaluations failed. */
export function passRate(counts: OutcomeCounts): number | undefined {
  const verdicts = verdictsOf(counts);
  return verdicts === 0 ? undefined : counts.passed / verdicts;
}

export function verdictsOf({ passed, notPassed }: OutcomeCounts): number {
  return passed + notPassed;
}

/** A table for people with one row for each evaluator, at most `width` wide. */
export function outcomeTable(counts: Iterable<OutcomeCounts>, width: number): string {
  return textTable(outcomeColumns, [...counts], width).text;
}

const outcomeColumns: readonly Column<OutcomeCounts>[] = [
  { heading: "evaluator and profile", text: ({ name }) => printable(name), canWrap: true },
  { heading: "passed", text: (of) => `${of.passed}/${verdictsOf(of)}`, align: "right" },
  { heading: "pass rate", text: (of) => percent(passRate(of)), align: "right" },
  { heading: "95 % interval", text: describeInterval, align: "right" },
  { heading: "score", text: describeScore, align: "right" },
  { heading: "failed", text: ({ failed }) => String(failed), align: "right" },
];

function describeInterval({ clusters }: OutcomeCounts): string {
  const sums = [...clusters.values()];
  const interval = rateInterval(momentsOfClusters(sums), jackknifeError(sums));
  return interval === null
    ? "–"
    : `${(100 * interval.lower).toFixed(1)} – ${(100 * interval.upper).toFixed(1)} %`;
}

function describeScore({ graded, scoreSum }: OutcomeCounts): string {
  return graded === 0 ? "–" : (scoreSum / graded).toFixed(3);
}

export function percent(share: number | undefined): string {
  return share === undefined ? "–" : `${(100 * share).toFixed(1)} %`;
}
