import type { Comparison, RunReport } from "@presage/contract";
import { printable } from "../../printable.ts";
import { CommandError } from "../command-error.ts";
import { outcomeName, percent } from "../evaluate/outcome-table.ts";
import { readNumber } from "./run-options.ts";

/** A pass rate that an evaluator must reach. */
export interface Minimum {
  /** `FAMILY` or `FAMILY=PROFILE`. Absent: all evaluators. */
  name: string | undefined;
  share: number;
}

/** What names an evaluator in a run, and in what is wanted of one. */
export interface NamedEvaluator {
  evaluator: string;
  /** Of an imported result at most the name is known. */
  profile_name: string | null;
}

const level = 0.05;
const maxShareOnlyInReference = 0.01;

/** Reads `--min-pass-rate`: `SHARE`, `FAMILY=SHARE` or `FAMILY=PROFILE=SHARE`. */
export function readMinimum(text: string): Minimum {
  const parts = text.split("=");
  const last = parts.pop() ?? "";
  const share = Number(last);
  if (last.trim() === "" || !(share >= 0 && share <= 1))
    throw new CommandError("--min-pass-rate takes EVALUATOR=SHARE, with a share from 0 to 1");
  return { name: parts.length === 0 ? undefined : parts.join("="), share };
}

/** In percentage points. */
export function readMaxRegression(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const points = readNumber("--max-regression", text);
  if (points >= 0 && points <= 100) return points;
  throw new CommandError("--max-regression takes percentage points, from 0 to 100");
}

/** Refuses a minimum of an evaluator that the run does not have: it would be reached by nothing. */
export function checkMinimums(minimums: readonly Minimum[], evaluators: readonly NamedEvaluator[]): void {
  const unknown = minimums.find((minimum) => !evaluators.some((one) => isMeant(minimum, one)));
  if (unknown === undefined) return;
  throw new CommandError(`--min-pass-rate ${unknown.name}=${unknown.share}: the run has no such evaluator`);
}

/** The pass rates below their minimum, in sentences. A failure counts as not passed, so that nothing is won by failing. */
export function findShortfalls(
  evaluators: readonly Pick<
    RunReport["evaluators"][number],
    "evaluator" | "profile_name" | "pass_rate_failures_as_zero" | "failed"
  >[],
  minimums: readonly Minimum[],
): string[] {
  return minimums.flatMap((minimum) =>
    evaluators
      .filter((one) => isMeant(minimum, one) && (one.pass_rate_failures_as_zero ?? 0) < minimum.share)
      .map((one) => {
        const counted = one.failed === 0 ? "" : `, with ${one.failed} failed that count as not passed,`;
        const rate = percent(one.pass_rate_failures_as_zero ?? 0);
        return `${nameOf(one)}: the pass rate ${rate}${counted} is below --min-pass-rate ${percent(minimum.share)}`;
      }),
  );
}

type ComparedEvaluator = Pick<Comparison["evaluators"][number], "evaluator" | "profile_name"> & {
  candidates: readonly Pick<
    Comparison["evaluators"][number]["candidates"][number],
    "difference" | "p_value" | "p_permutation" | "p_adjusted" | "count" | "trajectories" | "only_in_reference"
  >[];
};

/** What is worse than the reference by more than `maxRegression` percentage points of the mean score, in sentences. */
export function findRegressions(
  { evaluators }: { evaluators: readonly ComparedEvaluator[] },
  maxRegression: number,
): string[] {
  return evaluators.flatMap((evaluator) =>
    evaluator.candidates.flatMap((candidate) => {
      const { difference, p_adjusted: p, count, trajectories, only_in_reference: lacking } = candidate;
      const found: string[] = [];
      const points = 100 * (difference ?? 0);
      if (points < -maxRegression && p !== null && (p < level || areFewAndAlike(candidate))) {
        const tested =
          p < level
            ? `(p ${describeP(p)}), more than --max-regression ${maxRegression}`
            : `in all ${trajectories} trajectories alike, which are too few to test --max-regression ${maxRegression}`;
        found.push(
          `${nameOf(evaluator)}: the mean score is ${(-points).toFixed(1)} points lower than the reference's ${tested}`,
        );
      }
      const judged = count + lacking;
      if (judged === 0) {
        found.push(
          `${nameOf(evaluator)}: no sample has a verdict in both runs, so --max-regression ${maxRegression} was not checked`,
        );
      }
      if (lacking > maxShareOnlyInReference * judged) {
        found.push(
          `${nameOf(evaluator)}: ${lacking} of ${judged} samples have a verdict in the reference only (${percent(lacking / judged)}), more than ${percent(maxShareOnlyInReference)}`,
        );
      }
      return found;
    }),
  );
}

/** Whether trajectories differ by the same, so that only signs can be tested, and are too few for that. */
function areFewAndAlike({
  trajectories,
  p_value,
  p_permutation,
}: ComparedEvaluator["candidates"][number]): boolean {
  return p_value === p_permutation && 2 ** (1 - trajectories) > level;
}

/** A p-value for people. */
export function describeP(p: number): string {
  return p < 0.001 ? "<0.001" : p.toFixed(3);
}

/** An evaluator without the date of its version, and its profile. */
export function nameOf({ evaluator, profile_name }: NamedEvaluator): string {
  return printable(outcomeName({ evaluator_id: evaluator, profile_name: profile_name ?? "" }));
}

function isMeant({ name }: Minimum, { evaluator, profile_name }: NamedEvaluator): boolean {
  if (name === undefined) return true;
  const [family = "", ...profile] = name.split("=");
  const isSame = evaluator === family || evaluator.replace(/-\d{4}-\d{2}-\d{2}$/, "") === family;
  return isSame && (profile.length === 0 || profile.join("=") === profile_name);
}
