import type { Comparison } from "@presage/contract";
import { describeComparison } from "@presage/contract/describe-runs";
import { countOf, printable } from "../platform/words.ts";
import { describeP, nameOf } from "./gate.ts";
import { printNotice } from "./print-notice.ts";
import { printTable } from "./report-table.ts";
import type { Column } from "./text-table.ts";

type Candidate = Comparison["evaluators"][number]["candidates"][number];

interface Row {
  evaluator: string;
  run: string;
  mean: number | null;
  /** Absent: the reference. */
  candidate: Candidate | undefined;
}

/** Prints the differences of runs from the first one, in percentage points, as a table of at most 100 columns. */
export function printComparison({ runs, evaluators, ...comparison }: Comparison): void {
  const { evaluators_left_out: leftOut, preliminary } = comparison;
  const nameOfRun = (id: string) => printable(runs.find((run) => run.id === id)?.name ?? id);
  printTable(
    columns,
    evaluators.flatMap((evaluator) => [
      {
        evaluator: nameOf(evaluator),
        run: nameOfRun(evaluator.reference.run_id),
        mean: evaluator.reference.mean,
        candidate: undefined,
      },
      ...evaluator.candidates.map((candidate) => ({
        evaluator: "",
        run: nameOfRun(candidate.run_id),
        mean: candidate.mean,
        candidate,
      })),
    ]),
  );
  const notes = [
    ...evaluators.flatMap((evaluator) =>
      evaluator.candidates.flatMap((candidate) => {
        const { sentence, caveats } = describeComparison(candidate, {
          candidate: nameOfRun(candidate.run_id),
          reference: nameOfRun(evaluator.reference.run_id),
          evaluator: nameOf(evaluator),
          preliminary,
        });
        return [sentence, ...caveats].join(" ");
      }),
    ),
    ...describeBases(evaluators),
    ...runs.flatMap(({ name, left_out: count }) =>
      count === 0 ? [] : `${name}: ${count} of its samples are not in every run's revision, and left out`,
    ),
    ...leftOut.map((one) => `${nameOf(one)} of ${nameOfRun(one.run_id)} is left out: it has no counterpart`),
  ];
  if (notes.length > 0) printNotice(notes.map(printable).join("\n"));
}

/** How many samples are compared: once, if by all evaluators the same ones. */
function describeBases(evaluators: Comparison["evaluators"]): string[] {
  const bases = Map.groupBy(evaluators, ({ candidates: [candidate] }) => {
    const { count = 0, trajectories = 0 } = candidate ?? {};
    return `${countOf(count, "sample")} in ${trajectories} ${trajectories === 1 ? "trajectory" : "trajectories"}`;
  });
  return Array.from(bases, ([basis, having]) =>
    bases.size === 1 ? `Compared on ${basis}` : `${having.map(nameOf).join(", ")}: compared on ${basis}`,
  );
}

const columns: readonly Column<Row>[] = [
  { heading: "evaluator", text: ({ evaluator }) => evaluator, canWrap: true },
  { heading: "run", text: ({ run }) => run, canWrap: true },
  { heading: "mean", text: ({ mean }) => mean?.toFixed(3) ?? "–", align: "right" },
  {
    heading: "difference (95 %)",
    text: ({ candidate }) => (candidate === undefined ? "reference" : describeDifference(candidate)),
    align: "right",
  },
  {
    heading: "p",
    text: ({ candidate }) =>
      candidate === undefined ? "" : describeOptional(candidate.p_adjusted, describeP),
    align: "right",
  },
  ofCandidate("better", ({ wins }) => String(wins)),
  ofCandidate("worse", ({ losses }) => String(losses)),
  ofCandidate("detectable", ({ min_detectable }) => describeOptional(min_detectable, points)),
];

function ofCandidate(heading: string, text: (candidate: Candidate) => string): Column<Row> {
  return { heading, text: ({ candidate }) => (candidate ? text(candidate) : ""), align: "right" };
}

function describeDifference({ difference, interval }: Candidate): string {
  if (difference === null) return "–";
  const range = interval === null ? "" : ` (${points(interval.lower)} to ${points(interval.upper)})`;
  return points(difference) + range;
}

function describeOptional(value: number | null, describe: (value: number) => string): string {
  return value === null ? "–" : describe(value);
}

function points(share: number): string {
  return (100 * share).toFixed(1);
}
