import type { RunReport } from "@presage/contract";
import { describeTrouble } from "@presage/contract/describe-runs";
import { countOf, printable } from "../platform/words.ts";
import { nameOf } from "./gate.ts";
import { percent } from "./outcome-table.ts";
import { printNotice } from "./print-notice.ts";
import { type Column, textTable } from "./text-table.ts";

const maxTableWidth = 100;

type Row = RunReport["evaluators"][number];
type Interval = Row["interval"];

/** Prints what a run says, as a table of at most 100 columns. */
export function printReport({ run, evaluators, failures, provenance, survival }: RunReport): void {
  if (provenance.warnings.length > 0) printNotice(provenance.warnings.map(printable).join("\n"));
  printTable(columns, evaluators);
  const notes = [
    ...new Set(evaluators.flatMap(({ note }) => note ?? [])),
    ...evaluators.flatMap(describeFailures),
    ...describeCounts("Failed predictions", failures.predictions),
    ...describeCounts("Failed evaluations", failures.evaluations),
    ...(survival ?? []).flatMap((one) =>
      one.median === null
        ? []
        : `${nameOf(one)}: half of the trajectories have diverged at step ${one.median}`,
    ),
    ...describeTrouble(run.progress),
    ...run.notes,
  ];
  if (notes.length > 0) printNotice(notes.map(printable).join("\n"));
}

/** Prints a table that fits the terminal, and 100 columns in any case. */
export function printTable<Item>(tableColumns: readonly Column<Item>[], rows: readonly Item[]): void {
  const width = Math.min(maxTableWidth, process.stdout.columns ?? maxTableWidth);
  const { text, leftOut } = textTable(tableColumns, rows, width);
  process.stdout.write(`${text}\n`);
  if (leftOut.length > 0)
    printNotice(`This terminal is too narrow for ${leftOut.join(", ")}; --json shows everything.`);
}

const columns: readonly Column<Row>[] = [
  { heading: "evaluator and profile", text: nameOf, canWrap: true },
  {
    heading: "pass rate (95 %)",
    text: ({ pass_rate, pass_interval }) => withInterval(pass_rate, pass_interval, 100, 1, " %"),
    align: "right",
  },
  {
    heading: "mean (95 %)",
    text: ({ mean, interval }) => withInterval(mean, interval, 1, 3, ""),
    align: "right",
  },
  { heading: "samples", text: ({ count, samples }) => `${count}/${samples}`, align: "right" },
  {
    heading: "no-change",
    text: ({ no_change }) => percent(no_change?.pass_rate),
    align: "right",
  },
];

function withInterval(
  value: number | null,
  interval: Interval,
  factor: number,
  digits: number,
  unit: string,
): string {
  if (value === null) return "–";
  const show = (one: number) => (factor * one).toFixed(digits);
  const range = interval === null ? "" : ` (${show(interval.lower)}–${show(interval.upper)})`;
  return `${show(value)}${unit}${range}`;
}

function describeFailures(row: Row): string[] {
  const { failed, mean_failures_as_zero: mean, pass_rate_failures_as_zero: rate } = row;
  if (failed === 0 || mean === null) return [];
  return [
    `${nameOf(row)}: ${countOf(failed, "prediction")} without a verdict; with failures as zero, pass rate ${percent(rate ?? 0)}, mean ${mean.toFixed(3)}`,
  ];
}

function describeCounts(what: string, counts: Record<string, number>): string[] {
  const named = Object.entries(counts).map(([kind, count]) => `${kind} ${count}`);
  return named.length === 0 ? [] : [`${what}: ${named.join(", ")}`];
}
