import type { Comparison, Run, RunReport } from "@presage/contract";
import { describeComparison } from "@presage/contract/describe-comparison";
import {
  describeChange,
  describeDecision,
  describeDraw,
  describeFailures,
  describeLeftOut,
  describeSurvival,
  describeTrouble,
  formatPoints,
  withNote,
} from "@presage/contract/describe-runs";
import { SingleBar } from "cli-progress";
import { countOf, printable, threeDecimals } from "../platform/words.ts";
import { printNotice } from "./command.ts";
import { percent } from "./evaluate/evaluate-line.ts";
import { describeP, nameOf } from "./gate.ts";
import { atRight, type Column, textTable } from "./terminal.ts";

const maxTableWidth = 80;

type ReportRow = RunReport["evaluators"][number];
type Interval = ReportRow["interval"];

/** Prints a run's report, with its figures as a table. */
export function printReport({ run, evaluators, failures, provenance, survival, ...report }: RunReport): void {
  if (provenance.warnings.length > 0) printNotice(provenance.warnings.map(printable).join("\n"));
  printTable(reportColumns, evaluators);
  const notes = [
    ...[report.ends?.sentence, run.provenance.ends && report.ends?.note].filter((text) => text != null),
    ...describeDecision({ goal: report.goal, evaluators }),
    ...describeChange(report),
    ...[describeLeftOut(report.world)].filter((text) => text !== undefined),
    ...(report.records?.evaluators ?? []).map((one) => `${nameOf(one)}: ${one.sentence}`),
    ...evaluators.flatMap(({ corrected }) => (corrected ? withNote(corrected) : [])),
    ...describeBases("Figures of", evaluators),
    ...new Set(evaluators.flatMap(({ note }) => note ?? [])),
    ...evaluators.flatMap(describeLacking),
    ...describeCounts("Failed predictions", failures.predictions),
    ...describeCounts("Failed evaluations", failures.evaluations),
    ...(survival ?? []).map((one) => `${nameOf(one)}: ${describeSurvival(one, run)}`),
    ...describeTrouble(run.progress),
    ...run.notes,
  ];
  if (notes.length > 0) printNotice(notes.map(printable).join("\n"));
}

/** Prints a table that fits the terminal and 80 columns. */
export function printTable<Item>(tableColumns: readonly Column<Item>[], rows: readonly Item[]): void {
  const width = Math.min(maxTableWidth, process.stdout.columns ?? maxTableWidth);
  const { text, leftOut } = textTable(tableColumns, rows, width);
  // Without a terminal, a wider table is printed whole.
  if (leftOut.length > 0 && process.stdout.columns === undefined) {
    process.stdout.write(`${textTable(tableColumns, rows).text}\n`);
    return;
  }
  process.stdout.write(`${text}\n`);
  if (leftOut.length > 0)
    printNotice(`This terminal is too narrow for ${leftOut.join(", ")}; --json shows everything.`);
}

const reportColumns: readonly Column<ReportRow>[] = [
  { heading: "evaluator", text: nameOf, canWrap: true },
  atRight("pass rate (95 %)", ({ pass_rate, pass_interval }) =>
    withInterval(pass_rate, pass_interval, 100, 1, " %"),
  ),
  atRight("mean (95 %)", ({ mean, interval }) => withInterval(mean, interval, 1, 3, "")),
  atRight("samples", ({ count, samples }) => `${count}/${samples}`),
  atRight("no-change", ({ no_change }) => percent(no_change?.pass_rate)),
];

/** A figure with its interval, both multiplied by `factor`. */
export function withInterval(
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

function describeLacking(row: ReportRow): string[] {
  const { failed, mean_failures_as_zero: mean, pass_rate_failures_as_zero: rate } = row;
  if (failed === 0 || (mean === null && rate === null)) return [];
  const figures = [
    ...(rate === null ? [] : [`pass rate ${percent(rate)}`]),
    ...(mean === null ? [] : [`mean ${threeDecimals(mean)}`]),
  ].join(", ");
  return [
    `${nameOf(row)}: ${countOf(failed, "prediction")} without a verdict; with failures as zero, ${figures}`,
  ];
}

function describeCounts(what: string, counts: Record<string, number>): string[] {
  const named = Object.entries(counts).map(([kind, count]) => `${kind} ${count}`);
  return named.length === 0 ? [] : [`${what}: ${named.join(", ")}`];
}

type Candidate = Comparison["evaluators"][number]["candidates"][number];

interface ComparisonRow {
  evaluator: string;
  run: string;
  figures: Pick<Candidate, "mean" | "pass_rate">;
  /** Absent: the reference. */
  candidate: Candidate | undefined;
}

/**
 * Prints the differences of runs from the first one, in percentage points, as a table. The table calls runs by letters, because
 * their names can be of any length.
 */
export function printComparison({ runs, evaluators, ...comparison }: Comparison): void {
  const letterOf = (id: string) => String.fromCharCode(65 + runs.findIndex((run) => run.id === id));
  const legend = runs.map(
    ({ id, name }, index) => `${letterOf(id)}  ${printable(name)}${index === 0 ? " (reference)" : ""}`,
  );
  process.stdout.write(`${legend.join("\n")}\n\n`);
  const { evaluators_left_out: leftOut, preliminary } = comparison;
  const nameOfRun = (id: string) => printable(runs.find((run) => run.id === id)?.name ?? id);
  printTable(
    comparisonColumns,
    evaluators.flatMap((evaluator) => [
      {
        evaluator: nameOf(evaluator),
        run: letterOf(evaluator.reference.run_id),
        figures: evaluator.reference,
        candidate: undefined,
      },
      ...evaluator.candidates.map((candidate) => ({
        evaluator: "",
        run: letterOf(candidate.run_id),
        figures: candidate,
        candidate,
      })),
    ]),
  );
  const notes = [
    ...runs.flatMap(({ name, provenance }) =>
      provenance.draw ? `${name}: ${describeDraw(provenance.draw)}` : [],
    ),
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
    ...describeBases(
      "Compared on",
      evaluators.map(({ candidates: [candidate], ...names }) => ({
        ...names,
        count: candidate?.count ?? 0,
        trajectories: candidate?.trajectories ?? 0,
      })),
    ),
    ...runs.flatMap(({ name, left_out: count }) =>
      count === 0 ? [] : `${name}: ${count} of its samples are not in every run, and left out`,
    ),
    ...leftOut.map((one) => `${nameOf(one)} of ${nameOfRun(one.run_id)} is left out: it has no counterpart`),
  ];
  if (notes.length > 0) printNotice(notes.map(printable).join("\n"));
}

/** What figures are based on: said once if all evaluators have the same samples. */
function describeBases(
  what: string,
  evaluators: readonly Pick<ReportRow, "evaluator" | "profile_name" | "count" | "trajectories">[],
): string[] {
  const bases = Map.groupBy(
    evaluators,
    ({ count, trajectories }) =>
      `${countOf(count, "sample")} in ${countOf(trajectories, "trajectory", "trajectories")}`,
  );
  return Array.from(bases, ([basis, having]) =>
    bases.size === 1
      ? `${what} ${basis}`
      : `${having.map(nameOf).join(", ")}: ${what.toLowerCase()} ${basis}`,
  );
}

const comparisonColumns: readonly Column<ComparisonRow>[] = [
  { heading: "evaluator", text: ({ evaluator }) => evaluator, canWrap: true },
  { heading: "run", text: ({ run }) => run },
  atRight("mean or rate", ({ figures: { mean, pass_rate } }) =>
    mean === null ? percent(pass_rate ?? undefined) : threeDecimals(mean),
  ),
  atRight("difference (95 %)", ({ candidate }) =>
    candidate === undefined ? "reference" : describeDifference(candidate.difference, candidate.interval),
  ),
  atRight("p", ({ candidate }) =>
    candidate === undefined ? "" : candidate.p_adjusted === null ? "–" : describeP(candidate.p_adjusted),
  ),
  ofCandidate("better", ({ wins }) => String(wins)),
  ofCandidate("worse", ({ losses }) => String(losses)),
];

function ofCandidate(heading: string, text: (candidate: Candidate) => string): Column<ComparisonRow> {
  return atRight(heading, ({ candidate }) => (candidate ? text(candidate) : ""));
}

/** A difference of shares with its interval, in percentage points. */
export function describeDifference(difference: number | null, interval: Interval): string {
  const range = interval && ` (${formatPoints(interval.lower)} to ${formatPoints(interval.upper)})`;
  return `${formatPoints(difference)}${range ?? ""}`;
}

const lineEveryMs = 10_000;
/** The rate is measured over this long: a run may have waited before. */
const rateOverMs = 30_000;
/** After this long without a finished sample, the progress says so. */
const stillAfterMs = 10_000;
const barWidth = 20;

interface ProgressDisplay {
  update(run: Run): void;
  /** Shows a line next to the progress. */
  say(text: string): void;
  stop(): void;
}

/** Shows how far a run has got: as a bar in a terminal, otherwise as a line every ten seconds. */
export function showProgress({ progress }: Pick<Run, "progress">): ProgressDisplay {
  const rate = measureRate();
  return process.stderr.isTTY ? showBar(progress, rate) : showLines(rate);
}

type Progress = Run["progress"];
type Rate = ReturnType<typeof measureRate>;

/** The troubles of a run so far, and what to do about them. */
function describeTroubles({ progress, notes }: Run): string {
  const { retried = {}, timed_out = 0 } = progress.tries ?? {};
  const troubles = [...describeFailures(progress), ...notes, ...describeTrouble(progress)];
  if (timed_out > 0 || Object.keys(retried).length > 0)
    troubles.push("lower --concurrency or raise the time-out: docs/operate/runs.md");
  return troubles.map((text) => `; ${printable(text)}`).join("");
}

function showBar(first: Progress, rate: Rate): ProgressDisplay {
  const bar = new SingleBar({
    format: "{bar} {value}/{total} predictions{rest}",
    barsize: barWidth,
  });
  let latest = first;
  const start = () => bar.start(latest.samples, latest.evaluated, { rest: "" });
  start();
  return {
    update(run) {
      const { progress } = run;
      latest = progress;
      bar.setTotal(progress.samples);
      bar.update(progress.evaluated, { rest: rate(progress).describe() + describeTroubles(run) });
    },
    say(text) {
      bar.stop();
      printNotice(text);
      start();
    },
    stop: () => bar.stop(),
  };
}

function showLines(rate: Rate): ProgressDisplay {
  let lastLineAtMs = performance.now();
  let last: { text: string; isShown: boolean } = { text: "", isShown: true };
  const show = () => {
    if (!last.isShown) printNotice(last.text);
    last.isShown = true;
    lastLineAtMs = performance.now();
  };
  return {
    update(run) {
      const { evaluated, samples } = run.progress;
      const text = `${evaluated}/${countOf(samples, "prediction")}${rate(run.progress).describe()}${describeTroubles(run)}`;
      last = { text, isShown: false };
      if (performance.now() - lastLineAtMs >= lineEveryMs) show();
    },
    say: (text) => printNotice(text),
    stop: show,
  };
}

/** How fast predictions are evaluated, or for how long none has been. */
export function measureRate(nowMs = () => performance.now()) {
  let readings: { atMs: number; evaluated: number }[] = [];
  let lastEnd = { atMs: nowMs(), evaluated: 0 };
  return ({ evaluated, samples }: Pick<Progress, "evaluated" | "samples">) => {
    const now = nowMs();
    if (evaluated !== lastEnd.evaluated) lastEnd = { atMs: now, evaluated };
    readings = [...readings.filter(({ atMs }) => now - atMs <= rateOverMs), { atMs: now, evaluated }];
    const [oldest = { atMs: now, evaluated }] = readings;
    const perSecond = ((evaluated - oldest.evaluated) / (now - oldest.atMs)) * 1000;
    return {
      describe(): string {
        const stillMs = now - lastEnd.atMs;
        if (stillMs >= stillAfterMs && evaluated < samples)
          return `; no sample has ended for ${describeSeconds(stillMs / 1000)}`;
        if (!(perSecond > 0)) return "";
        const left =
          evaluated === samples ? "" : `, ${describeSeconds((samples - evaluated) / perSecond)} left`;
        return `, ${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s${left}`;
      },
    };
  };
}

function describeSeconds(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
