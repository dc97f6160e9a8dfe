import type { Comparison, ComparisonCandidate, ComparisonStratum } from "@presage/contract";
import { fewestTrajectories } from "@presage/contract/defaults";
import { describeComparison, formatDetectable } from "@presage/contract/describe-comparison";
import { describeDraw, evaluatorName, formatPoints } from "@presage/contract/describe-runs";
import { describePredictor } from "../report/document.ts";
import {
  dayOf,
  formatP,
  formatScore,
  formatShare,
  heading,
  paragraph,
  type ReportPart,
} from "../report/pages.ts";

type ComparedRun = Comparison["runs"][number];
type ComparedEvaluator = Comparison["evaluators"][number];

/** A run and its name in this document. */
interface Named {
  run: ComparedRun;
  name: string;
}

const howIntervals =
  "Differences are candidate − reference in percentage points, of mean scores or, where verdicts have no score, of pass rates, paired by sample. Intervals are at 95 % and take trajectories, not samples, as independent; p-values are of flipped signs of trajectories' sums, with Holm's correction over all evaluators and runs here.";

/** “model, other against baseline”; names that have commas are quoted. */
export function comparisonTitle(runs: readonly { name: string }[]): string {
  const hasCommas = runs.some(({ name }) => name.includes(","));
  const [reference, ...others] = runs.map(({ name }) => (hasCommas ? `“${name}”` : name));
  return `${others.join(", ")} against ${reference}`;
}

/** A comparison as headings, texts, tables and charts. Datasets are named by their ids. */
export function comparisonDocument(
  comparison: Comparison,
  datasetNames: ReadonlyMap<string, string>,
): ReportPart[] {
  const { runs, evaluators, preliminary } = comparison;
  const named = runs.map((run, index) => toNamed(run, index, runs));
  const [reference] = named;
  if (reference === undefined) return [];
  return [
    heading(1, comparisonTitle(runs)),
    paragraph(`${runs.length} runs, paired by sample.`),
    ...named.flatMap(({ name, run: { provenance } }) =>
      provenance.draw ? [paragraph(`${name}: ${describeDraw(provenance.draw)}`)] : [],
    ),
    ...evaluators.slice(0, 1).flatMap((one) => sentencesOf(one, named, reference, preliminary, true)),
    ...(evaluators.length === 0 ? [paragraph("These runs have no evaluator in common.")] : []),
    heading(2, "Runs"),
    runsTable(named, datasetNames),
    ...evaluators.flatMap((evaluator, index) => [
      heading(2, evaluatorName(evaluator), index > 0),
      ...(index > 0 ? sentencesOf(evaluator, named, reference, preliminary) : []),
      ...evaluatorParts(evaluator, named, reference),
    ]),
    heading(2, "How the figures are made"),
    paragraph(howIntervals),
    ...leftOutParts(comparison, named),
  ];
}

/** A run's name, with its letter if another run has the same name. */
function toNamed(run: ComparedRun, index: number, all: readonly ComparedRun[]): Named {
  const letter = String.fromCharCode("A".charCodeAt(0) + index);
  const isUnique = all.filter(({ name }) => name === run.name).length === 1;
  return { run, name: isUnique ? run.name : `${run.name} (${letter})` };
}

function nameById(named: readonly Named[], id: string): string {
  return named.find(({ run }) => run.id === id)?.name ?? id;
}

/** A conclusion for each run. */
function sentencesOf(
  evaluator: ComparedEvaluator,
  named: readonly Named[],
  reference: Named,
  preliminary: boolean,
  areLeads = false,
): ReportPart[] {
  return evaluator.candidates.map((candidate) => {
    const names = { candidate: nameById(named, candidate.run_id), reference: reference.name };
    const { sentence, caveats } = describeComparison(candidate, {
      ...names,
      evaluator: evaluatorName(evaluator),
      preliminary,
    });
    return paragraph([sentence, ...caveats].join(" "), areLeads);
  });
}

const runColumns = [
  "Run",
  "What predicted",
  "Dataset",
  "Mode",
  "Finished",
  "Predictions",
  "Samples left out",
] as const;

/** Without the samples that are left out if none are. */
function runsTable(named: readonly Named[], datasetNames: ReadonlyMap<string, string>): ReportPart {
  const count = named.some(({ run }) => run.left_out > 0) ? runColumns.length : runColumns.length - 1;
  const rows = named.map((one) => runCells(one, datasetNames).slice(0, count));
  return { kind: "table", columns: runColumns.slice(0, count), rows };
}

function runCells({ run, name }: Named, datasetNames: ReadonlyMap<string, string>): string[] {
  const { dataset_id: id, revision } = run;
  const dataset = id === null ? "–" : `${datasetNames.get(id) ?? id}, revision ${revision}`;
  const predictions = `${run.progress.evaluated} of ${run.progress.samples}`;
  const target = describePredictor(run.target).replace(/^Predicted by |\.$/g, "");
  const end = run.finished_at === null || run.status !== "finished" ? run.status : dayOf(run.finished_at);
  return [name, target, dataset, run.mode, end, predictions, String(run.left_out)];
}

/** Left out if no failure changes a difference. */
const columnOfFailures = "Difference with failures";
const columns = [
  "Run",
  "Mean",
  "Pass rate",
  "Difference, points",
  "Interval",
  "p",
  "Samples",
  "Trajectories",
  "Better / worse / same",
  columnOfFailures,
  "Detectable, points",
];

function evaluatorParts(
  { reference: figures, candidates, ...evaluator }: ComparedEvaluator,
  named: readonly Named[],
  reference: Named,
): ReportPart[] {
  const first = [
    reference.name,
    formatScore(figures.mean),
    formatShare(figures.pass_rate),
    "reference",
    "",
    "",
    `${figures.count}`,
  ];
  const cells = candidates.map((candidate) => candidateCells(candidate, nameById(named, candidate.run_id)));
  const isShown = (_: unknown, at: number) =>
    columns[at] !== columnOfFailures ||
    candidates.some((one) => one.difference !== one.difference_failures_as_zero);
  const rows = [[...first, "", "", "", ""], ...cells].map((row) => row.filter(isShown));
  return [
    ...differencesChart(evaluatorName(evaluator), candidates, named),
    { kind: "table", columns: columns.filter(isShown), rows },
    ...strataParts(candidates, named),
  ];
}

function candidateCells(candidate: ComparisonCandidate, name: string): string[] {
  const { wins, losses, ties, p_adjusted: p, min_detectable: detectable } = candidate;
  return [
    name,
    formatScore(candidate.mean),
    formatShare(candidate.pass_rate),
    formatPoints(candidate.difference),
    range(candidate.interval),
    formatP(p),
    String(candidate.count),
    String(candidate.trajectories),
    `${wins} / ${losses} / ${ties}`,
    formatPoints(candidate.difference_failures_as_zero),
    formatDetectable(detectable),
  ];
}

function range(bounds: ComparisonCandidate["interval"]): string {
  return bounds === null ? "–" : `${formatPoints(bounds.lower)} to ${formatPoints(bounds.upper)}`;
}

const partsOfAxis = [0.01, 0.02, 0.05, 0.1, 0.2];

/** A chart in percentage points, from the least bound to the greatest, and always with 0. */
function differencesChart(
  evaluator: string,
  candidates: readonly ComparisonCandidate[],
  named: readonly Named[],
): ReportPart[] {
  const rows = candidates.map(({ run_id, difference, interval: bounds }) => ({
    name: nameById(named, run_id),
    value: difference,
    interval: bounds,
    reference: 0,
  }));
  const ends = rows.flatMap(({ value, interval: bounds }) => [
    value ?? 0,
    bounds?.lower ?? 0,
    bounds?.upper ?? 0,
  ]);
  const [least, greatest] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  if (least === greatest) return [];
  const part = partsOfAxis.find((one) => greatest - least <= 4 * one) ?? 0.5;
  const [first, last] = [Math.floor(least / part), Math.ceil(greatest / part)];
  const axis = { from: first * part, to: last * part, parts: last - first, format: formatPoints };
  const caption = `${evaluator}: difference in points, with its 95 % interval. Mark: no difference.`;
  return [{ kind: "intervals", caption, axis, rows }];
}

const strataTitles = [
  ["step", "By step", "Step"],
  ["changed", "By whether the state changed", "State"],
  ["changes", "By number of changes", "Changes"],
] as const;

const strataColumns = [
  "Reference",
  "Candidate",
  "Difference, points",
  "Interval",
  "p, uncorrected",
  "Samples",
  "Trajectories",
];
/** The most rows of a long list that a page shows. */
const mostRows = 100;

/** A table for each kind of strata. With several runs, those of one stratum are below each other. */
function strataParts(candidates: readonly ComparisonCandidate[], named: readonly Named[]): ReportPart[] {
  return strataTitles.flatMap(([kind, title, column]): ReportPart[] => {
    const enough = kind === "step" ? fewestTrajectories : 0;
    const all = candidates.flatMap(({ strata, measure, run_id }) =>
      strata[kind].map((stratum) => ({ stratum, measure, name: nameById(named, run_id) })),
    );
    const byKey = [...Map.groupBy(all, ({ stratum }) => stratum.key).values()].flat();
    const rows = byKey
      .filter(({ stratum }) => stratum.trajectories >= enough)
      .slice(0, mostRows)
      .map(({ stratum, measure, name }) => [
        String(stratum.key),
        ...(candidates.length === 1 ? [] : [name]),
        ...stratumCells(stratum, measure === "score" ? formatScore : formatShare),
      ]);
    if (rows.length === 0) return [];
    const more = all.length - rows.length;
    const heads = [column, ...(candidates.length === 1 ? [] : ["Run"]), ...strataColumns];
    return [
      { kind: "table", title, columns: heads, rows },
      ...(more === 0 ? [] : [paragraph(`${more} more are not shown.`)]),
    ];
  });
}

function stratumCells(stratum: ComparisonStratum, format: typeof formatScore): string[] {
  const { reference_mean, mean, difference, p_value: p, count, trajectories } = stratum;
  return [
    format(reference_mean),
    format(mean),
    formatPoints(difference),
    range(stratum.interval),
    formatP(p),
    String(count),
    String(trajectories),
  ];
}

function leftOutParts({ evaluators_left_out: leftOut }: Comparison, named: readonly Named[]): ReportPart[] {
  if (leftOut.length === 0) return [];
  const names = leftOut.map((one) => `${evaluatorName(one)} of ${nameById(named, one.run_id)}`);
  return [paragraph(`Without a counterpart at the same revision, and left out: ${names.join(", ")}.`)];
}
