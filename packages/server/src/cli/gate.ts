import type { Comparison, RunReport } from "@presage/contract";
import { evaluatorName, isMeant } from "@presage/contract/describe-runs";
import { fewestClusters } from "../platform/statistics/differences.ts";
import { countOf, printable } from "../platform/words.ts";
import { CommandError } from "./command.ts";
import { percent } from "./evaluate/evaluate-line.ts";
import { evaluatorNamed } from "./evaluate/evaluators.ts";
import { readNumber } from "./run-options.ts";

/** A pass rate that an evaluator must reach. */
export interface Minimum {
  /** `FAMILY` or `FAMILY=PROFILE`. Absent: all evaluators. */
  name: string | undefined;
  share: number;
}

/** Identifies an evaluator in a run or in a gate. */
interface NamedEvaluator {
  evaluator: string;
  /** An imported result has at most a name. */
  profile_name: string | null;
}

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

/** The limit in percentage points. */
export function readMaxRegression(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const points = readNumber("--max-regression", text);
  if (points >= 0 && points <= 100) return points;
  throw new CommandError("--max-regression takes percentage points, from 0 to 100");
}

/** Refuses a minimum for an evaluator that the run does not have: nothing would be checked against it. */
export function checkMinimums(minimums: readonly Minimum[], evaluators: readonly NamedEvaluator[]): void {
  const unknown = minimums.find((minimum) => !evaluators.some((one) => isOfMinimum(minimum, one)));
  if (unknown === undefined) return;
  throw new CommandError(`--min-pass-rate ${unknown.name}=${unknown.share}: the run has no such evaluator`);
}

/** The pass rates below their minimum, as sentences. A failure counts as not passed, so that failing gains nothing. */
export function findShortfalls(
  evaluators: readonly Pick<
    RunReport["evaluators"][number],
    "evaluator" | "profile_name" | "pass_rate_failures_as_zero" | "failed"
  >[],
  minimums: readonly Minimum[],
): string[] {
  return minimums.flatMap((minimum) =>
    evaluators
      .filter((one) => isOfMinimum(minimum, one) && (one.pass_rate_failures_as_zero ?? 0) < minimum.share)
      .map((one) => {
        const counted =
          one.failed === 0
            ? ""
            : `, with ${countOf(one.failed, "prediction")} without a verdict as not passed,`;
        const [rate, least] = percentsApart(one.pass_rate_failures_as_zero ?? 0, minimum.share);
        return `${nameOf(one)}: the pass rate ${rate}${counted} is below --min-pass-rate ${least}`;
      }),
  );
}

/** Two shares in percent, with enough decimals to tell them apart: “50.56 % is below 50.60 %”. */
function percentsApart(one: number, other: number): [string, string] {
  for (let digits = 1; digits < 12; digits += 1) {
    const texts = [one, other].map((share) => `${(100 * share).toFixed(digits)} %`) as [string, string];
    if (texts[0] !== texts[1]) return texts;
  }
  return [percent(one), percent(other)];
}

type ComparedEvaluator = Pick<Comparison["evaluators"][number], "evaluator" | "profile_name"> & {
  candidates: readonly Pick<
    Comparison["evaluators"][number]["candidates"][number],
    | "difference"
    | "interval"
    | "measure"
    | "outcome"
    | "p_adjusted"
    | "count"
    | "trajectories"
    | "only_in_reference"
  >[];
};

/** Each regression is a sentence. */
interface Regressions {
  /** What is shown to be worse than the reference by more than `--max-regression`, and what prevents the check. */
  worse: string[];
  /** What is worse by more in the figures, but may be due to chance. */
  undecided: string[];
}

/** What is worse than the reference by more than `maxRegression` percentage points. */
export function findRegressions(
  { evaluators }: { evaluators: readonly ComparedEvaluator[] },
  maxRegression: number,
): Regressions {
  const found: Regressions = { worse: [], undecided: [] };
  for (const evaluator of evaluators) {
    const name = nameOf(evaluator);
    for (const candidate of evaluator.candidates) {
      const { interval, outcome, p_adjusted: p, count, trajectories, only_in_reference: lacking } = candidate;
      const loss = -100 * (candidate.difference ?? 0);
      if (loss > maxRegression && outcome === "worse") {
        const what = candidate.measure === "score" ? "mean score" : "pass rate";
        found.worse.push(
          `${name}: the ${what} is ${loss.toFixed(1)} points lower than the reference's (p ${describeP(p ?? 0)}), more than --max-regression ${maxRegression}`,
        );
      } else if (loss > maxRegression && interval === null) {
        const what =
          trajectories < fewestClusters
            ? `${trajectories === 1 ? "1 trajectory is" : `${trajectories} trajectories are`} too few to tell a loss of ${loss.toFixed(1)} points from chance; at least ${fewestClusters} are needed`
            : `all ${trajectories} trajectories lose ${loss.toFixed(1)} points alike, which does not show how far others would`;
        found.undecided.push(`${name}: undecided: ${what}`);
      }
      const judged = count + lacking;
      if (judged === 0) {
        found.worse.push(
          `${name}: no sample has a verdict in both runs, so --max-regression ${maxRegression} was not checked`,
        );
      }
      if (lacking > maxShareOnlyInReference * judged) {
        found.worse.push(
          `${name}: ${lacking} of ${judged} samples have a verdict in the reference only (${percent(lacking / judged)}), more than ${percent(maxShareOnlyInReference)}`,
        );
      }
    }
  }
  return found;
}

/** The outcome of a gate that cannot tell; undefined: a separate exit code. */
export type Undecided = "pass" | "fail" | undefined;

export function readUndecided(text: string | undefined): Undecided {
  if (text === undefined || text === "pass" || text === "fail") return text;
  throw new CommandError("--undecided takes pass or fail");
}

const missedExitCode = 2;
const untoldExitCode = 3;

/** Sets the exit code of a command with a gate: whether the gate is missed, and whether it could not tell. */
export function setGateExitCode(
  { isMissed, isUntold }: { isMissed: boolean; isUntold: boolean },
  undecided: Undecided,
): void {
  if (isMissed || (isUntold && undecided === "fail")) process.exitCode = missedExitCode;
  else if (isUntold && undecided === undefined) process.exitCode = untoldExitCode;
}

/** A p-value for people. */
export function describeP(p: number): string {
  return p < 0.001 ? "<0.001" : p.toFixed(3);
}

/** An evaluator's name for the terminal. */
export function nameOf(one: NamedEvaluator): string {
  return printable(evaluatorName(one));
}

function isOfMinimum({ name }: Minimum, one: NamedEvaluator): boolean {
  if (name === undefined) return true;
  const { evaluator = "", profile_name = null } = evaluatorNamed(name);
  return isMeant({ evaluator, profile_name }, one);
}
