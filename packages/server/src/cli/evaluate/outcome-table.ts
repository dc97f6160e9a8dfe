import Table from "cli-table3";
import { wilsonInterval } from "../../evaluation/statistics/wilson-interval.ts";
import type { Outcome } from "./evaluate-line.ts";

/** Counts of one evaluator with one profile over a file. */
export interface OutcomeCounts {
  name: string;
  evaluations: number;
  passed: number;
  notPassed: number;
  failed: number;
  scoreSum: number;
}

/** Adds one evaluation to the counts of its evaluator and profile. */
export function countOutcome(counts: Map<string, OutcomeCounts>, outcome: Outcome): void {
  const name = `${outcome.evaluator_id} ${outcome.profile_name}`;
  const of = counts.get(name) ?? { name, evaluations: 0, passed: 0, notPassed: 0, failed: 0, scoreSum: 0 };
  of.evaluations += 1;
  if (outcome.status !== "success") of.failed += 1;
  else if (outcome.pass === true) of.passed += 1;
  else of.notPassed += 1;
  of.scoreSum += outcome.score_raw ?? 0;
  counts.set(name, of);
}

/** The share of verdicts that are passes; undefined where all evaluations failed. */
export function passRate({ passed, notPassed }: OutcomeCounts): number | undefined {
  const verdicts = passed + notPassed;
  return verdicts === 0 ? undefined : passed / verdicts;
}

/** A table for people with one row for each evaluator. */
export function outcomeTable(counts: Iterable<OutcomeCounts>): string {
  const table = new Table({
    head: [
      "evaluator and profile",
      "evaluated",
      "passed",
      "pass rate",
      "95 % interval",
      "mean score",
      "failed",
    ],
    style: { head: [], border: [] },
  });
  for (const of of counts) {
    const verdicts = of.passed + of.notPassed;
    const interval = wilsonInterval(of.passed, verdicts);
    table.push([
      of.name,
      of.evaluations,
      of.passed,
      percent(passRate(of)),
      interval === null ? "–" : `${percent(interval.lower)} – ${percent(interval.upper)}`,
      verdicts === 0 ? "–" : (of.scoreSum / verdicts).toFixed(3),
      of.failed,
    ]);
  }
  return table.toString();
}

function percent(share: number | undefined): string {
  return share === undefined ? "–" : `${(100 * share).toFixed(1)} %`;
}
