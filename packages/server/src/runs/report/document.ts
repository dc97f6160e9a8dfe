import type {
  ReportEvaluator,
  RunEvaluatorReport,
  RunFigures,
  RunReport,
  RunStratum,
  RunSurvival,
} from "@presage/contract";
import { defaultProfileName, fewestTrajectories } from "@presage/contract/defaults";
import {
  describeChange,
  describeDecision,
  describeLeftOut,
  describeMedian,
  describeSurvival,
  describeTarget,
  describeTrouble,
  evaluatorName,
  familyOf,
  mainEvaluator,
  withNote,
} from "@presage/contract/describe-runs";
import { countOf } from "../../platform/words.ts";
import {
  block,
  firstRows,
  formatScore,
  formatScoreInterval,
  formatShare,
  formatShareInterval,
  heading,
  type IntervalAxis,
  paragraph,
  type ReportPart,
} from "./pages.ts";
import { endsParts, figureTable } from "./parts.ts";

type Described = Pick<ReportEvaluator, "evaluator" | "profile_name"> &
  Pick<
    RunEvaluatorReport,
    "count" | "failed" | "trajectories" | "mean" | "interval" | "pass_rate" | "pass_interval" | "baseline"
  >;

/** A run's result by one evaluator, in a sentence for reports. Names are unescaped: the writer of the sentence escapes them. */
export function describeEvaluator(one: Described): string {
  const name = evaluatorName(one);
  const without = one.failed === 0 ? "" : ` ${countOf(one.failed, "prediction")} without a verdict.`;
  const basis = `${countOf(one.count, "sample")} in ${countOf(one.trajectories, "trajectory", "trajectories")}`;
  if (one.pass_rate === null) {
    if (one.mean === null) return `${name} has no verdict.${without}`;
    const { interval } = one;
    const range = interval === null ? "" : ` (95 % interval ${formatScoreInterval(interval)})`;
    return `${name} scores ${formatScore(one.mean)}${range} on ${basis}.${without}`;
  }
  const { pass_interval: interval, baseline: best } = one;
  const range = interval === null ? "" : ` (95 % interval ${formatShareInterval(interval)})`;
  const some = best === null || best.count === one.count ? "" : ` of ${best.count}`;
  const baseline =
    best === null ? "" : `; the best baseline, ${best.kind}, passes ${formatShare(best.pass_rate)}${some}`;
  return `${name} passes ${formatShare(one.pass_rate)}${range} of ${basis}${baseline}.${without}`;
}

const strataTitles = {
  step: ["By step", "Step"],
  changed: ["By whether the state changed", "State"],
  changes: ["By number of changes", "Changes"],
  verb: ["By action", "Action"],
  tag: ["By tag", "Tag"],
  trajectory: ["The trajectories with the lowest scores", "Trajectory"],
} as const;
const furtherStrata = ["changed", "changes", "verb", "tag", "trajectory"] as const;

const howIntervals =
  "Intervals are at 95 % and take trajectories, not samples, as independent (Wilson's with Student's t and the standard error of leaving out one trajectory at a time). With failures: if each failure does not pass, or scores 0. No change: predicting that nothing changes, on the same samples. Columns that would say nothing are left out.";

/** The options of a report. */
export interface ReportOptions {
  /** The dataset's name. */
  dataset?: string | undefined;
  /** Whether it contains texts of people, samples and models, and not only names and figures. */
  withTexts?: boolean;
}

/** A report as headings, texts, tables and charts. */
export function reportDocument(
  report: RunReport,
  { dataset, withTexts = true }: ReportOptions = {},
): ReportPart[] {
  const { run, provenance } = report;
  const lead = mainEvaluator(report.evaluators, report.goal);
  const decision = describeDecision(report);
  const place = `Dataset ${dataset ?? run.dataset_id}, revision ${run.revision}; ${run.mode}; ${run.status}.`;
  return [
    heading(1, `Run ${run.name}`),
    paragraph(`${describePredictor(run.target)} ${run.dataset_id === null ? "" : place}`),
    ...decision.map((text) => paragraph(text, true)),
    ...(report.ends?.sentence ? [paragraph(report.ends.sentence, true)] : []),
    ...(lead === undefined ? [] : [leadParagraph(lead, decision.length > 0)]),
    ...provenance.warnings.map((text) => paragraph(text)),
    ...describeChange(report, { withParams: withTexts }).map((text) => paragraph(`${text}.`)),
    ...leftOutParts(report),
    heading(2, "Pass rates"),
    ...overviewChart(report.evaluators),
    evaluatorTable(report.evaluators),
    ...(report.records?.evaluators ?? []).map((one) => paragraph(`${evaluatorName(one)}: ${one.sentence}`)),
    ...noteParts(report.evaluators),
    ...report.evaluators.flatMap(({ corrected }) =>
      corrected === undefined ? [] : [paragraph(withNote(corrected))],
    ),
    paragraph(howIntervals),
    ...(report.survival ?? []).flatMap((survival, _, all) =>
      survivalParts(survival, nameAmong(all)(survival), run),
    ),
    ...teacherForcedParts(report),
    ...endsParts(report),
    ...report.evaluators.flatMap((one, index) =>
      strataParts(one, nameAmong(report.evaluators)(one), { withTexts, isFolded: index > 0 }),
    ),
    heading(2, "Cost and speed"),
    { kind: "table", columns: ["Figure", "Value"], rows: predictionRows(report) },
    heading(2, "Provenance", true),
    { kind: "table", columns: ["What", "Value"], rows: provenanceRows(report, withTexts) },
    ...(withTexts ? textParts(report) : []),
  ];
}

/** The run's figure, or beside a decision that has it, only what it is compared with. */
function leadParagraph(lead: RunEvaluatorReport, isDecided: boolean): ReportPart {
  const { baseline } = lead;
  if (!isDecided) return paragraph(describeEvaluator(lead), true);
  if (baseline === null) return paragraph("No baseline was measured.");
  return paragraph(`The best baseline, ${baseline.kind}, passes ${formatShare(baseline.pass_rate)}.`);
}

/** The texts that people wrote, and the target and params of the run. */
function textParts({ run }: RunReport): ReportPart[] {
  return [
    heading(3, "Target and params"),
    block(JSON.stringify({ target: run.target, params: run.params }, null, 2)),
    ...(run.status_reason === null ? [] : [heading(3, "Status"), block(run.status_reason)]),
    ...(run.notes.length === 0 ? [] : [heading(3, "Notes"), block(run.notes.join("\n"))]),
  ];
}

/** The source of the predictions, by kind and name, as a sentence. */
export function describePredictor(target: RunReport["run"]["target"]): string {
  const name = describeTarget(target);
  if ("deployment" in target) return `Predicted by the deployment ${name}.`;
  if ("world" in target) return `Predicted by the world ${name}.`;
  if ("baseline" in target) return `Predicted by the baseline ${name}.`;
  return "predictions" in target ? "Its predictions were imported." : "Its results are those of a client.";
}

/** The figures of the sentences, on one axis. */
function overviewChart(evaluators: readonly RunEvaluatorReport[]): ReportPart[] {
  const rows = evaluators.map((one) => {
    const hasPasses = one.pass_rate !== null;
    return {
      name: evaluatorName(one),
      value: hasPasses ? one.pass_rate : one.mean,
      interval: hasPasses ? one.pass_interval : one.interval,
      reference: (hasPasses ? one.baseline?.pass_rate : one.no_change?.mean) ?? null,
    };
  });
  if (rows.every(({ value }) => value === null)) return [];
  const isMarked = rows.some(({ reference }) => reference !== null);
  const caption = `Pass rate, or mean score where there is none, with its 95 % interval.${isMarked ? " Mark: the best baseline; of scores, leaving the state unchanged." : ""}`;
  return [{ kind: "intervals", caption, axis: sharesAxis, rows }];
}

const sharesAxis: IntervalAxis = { from: 0, to: 1, format: (value) => `${100 * value} %` };

/** The evaluator and its profile: a run may have several evaluators of one family. */
function fullName({ evaluator, profile_name: profile }: ReportEvaluator): string {
  return profile === null ? evaluator : `${evaluator} ${profile}`;
}

/** The names of evaluators, without the parts that do not distinguish them. */
function nameAmong(all: readonly ReportEvaluator[]): (one: ReportEvaluator) => string {
  const isUnique = new Set(all.map(evaluatorName)).size === all.length;
  return isUnique ? evaluatorName : fullName;
}

/** Notes on the figures, each once for all evaluators that it applies to. */
function noteParts(evaluators: readonly RunEvaluatorReport[]): ReportPart[] {
  const byNote = Map.groupBy(evaluators, ({ note }) => note);
  return [...byNote].flatMap(([note, of]) =>
    note === null ? [] : [paragraph(`${of.map(nameAmong(evaluators)).join(", ")}: ${note}`)],
  );
}

function profileText({ profile_name: name, profile_revision: revision }: ReportEvaluator): string {
  if (name === defaultProfileName) return "default";
  return revision === null ? (name ?? "–") : `${name}, revision ${revision}`;
}

type Tabled = ReportEvaluator & RunFigures & Partial<Pick<RunEvaluatorReport, "baseline">>;

function evaluatorTable(evaluators: readonly Tabled[]): ReportPart {
  const distinct = (names: string[]) => new Set(names).size;
  const ids = evaluators.map(({ evaluator }) => evaluator);
  const isOfOneVersion = distinct(ids.map(familyOf)) === distinct(ids);
  const profiles = evaluators.some((one) => profileText(one) !== "default") ? ["Profile"] : [];
  const rows = evaluators.map((one) => {
    const name = isOfOneVersion ? familyOf(one.evaluator) : one.evaluator;
    return { cells: [name, ...profiles.map(() => profileText(one))], figures: one };
  });
  const table = figureTable(["Evaluator", ...profiles], rows);
  const baselines = evaluators.map(({ baseline }) => baseline);
  // No change has a column of its own.
  if (baselines.every((one) => !one || one.kind === "no-change")) return { kind: "table", ...table };
  const kinds = new Set(baselines.flatMap((one) => one?.kind ?? []));
  const [kind] = kinds;
  const isOneKind = kinds.size === 1;
  const place = table.columns.includes("Interval") ? table.columns.indexOf("Interval") + 1 : 2;
  return {
    kind: "table",
    columns: table.columns.toSpliced(place, 0, isOneKind ? `Best baseline, ${kind}` : "Best baseline"),
    rows: table.rows.map((cells, index) => {
      const best = baselines[index];
      return cells.toSpliced(
        place,
        0,
        best ? `${formatShare(best.pass_rate)}${isOneKind ? "" : ` (${best.kind})`}` : "–",
      );
    }),
  };
}

function leftOutParts({ world }: RunReport): ReportPart[] {
  const text = describeLeftOut(world);
  return text === undefined ? [] : [paragraph(text)];
}

/** Groups whose names are words of samples: their verbs and the ids they were given. */
const textual: readonly string[] = ["verb", "trajectory"];

function strataParts(
  { strata, strata_left_out: leftOut }: RunEvaluatorReport,
  name: string,
  { withTexts, isFolded }: { withTexts: boolean; isFolded: boolean },
): ReportPart[] {
  const more = { changed: 0, changes: 0, verb: 0, ...leftOut };
  const steps = strata.step.filter(({ trajectories }) => trajectories >= fewestTrajectories);
  const rare = strata.step.length - steps.length;
  const few = `Left out: ${countOf(rare, "step")} with verdicts from fewer than ${fewestTrajectories} trajectories.`;
  return [
    heading(2, name, isFolded),
    ...stepChart(name, steps),
    ...strataTable(strataTitles.step, steps, leftOut.step),
    ...(rare === 0 ? [] : [paragraph(few)]),
    ...furtherStrata.flatMap((group) =>
      withTexts || !textual.includes(group)
        ? strataTable(strataTitles[group], strata[group], more[group])
        : [],
    ),
  ];
}

function stepChart(name: string, steps: readonly RunStratum[]): ReportPart[] {
  const points = steps.flatMap(({ key, pass_rate: share, pass_interval: interval, no_change: unchanged }) =>
    share === null ? [] : [{ step: Number(key), share, interval, baseline: unchanged?.pass_rate ?? null }],
  );
  // A curve of one step would be a lone dot.
  if (points.length < 2) return [];
  const dashed = points.some(({ baseline }) => baseline !== null)
    ? " Dashed: leaving the state unchanged."
    : "";
  return [{ kind: "chart", caption: `${name}: pass rate by step, with its 95 % interval.${dashed}`, points }];
}

function strataTable(
  [title, column]: readonly [string, string],
  strata: readonly RunStratum[],
  leftOut: number,
): ReportPart[] {
  const found = strata.filter(({ samples }) => samples > 0);
  if (found.length === 0) return [];
  const rows = found.map(({ key, ...figures }) => ({ cells: [String(key)], figures }));
  const table = figureTable([column], rows);
  return firstRows(table.columns, table.rows, { title, leftOut });
}

function survivalParts(survival: RunSurvival, name: string, run: RunReport["run"]): ReportPart[] {
  const { prediction_failed, evaluator_failed } = survival.endings;
  const bound = `If each failure is a divergence: ${describeMedian({ ...survival, ...survival.failures_as_divergence })}`;
  const said = describeSurvival(survival, run);
  return [
    heading(2, `First divergence by ${name}`),
    paragraph(prediction_failed + evaluator_failed === 0 ? said : `${said} ${bound}`),
    ...survivalChart(survival),
    ...firstRows(
      ["Step", "At risk", "Diverged", "Censored", "Not diverged", "Interval"],
      survival.steps.map((step) => [
        String(step.step),
        String(step.at_risk),
        String(step.diverged),
        String(step.censored),
        formatShare(step.survival),
        formatShareInterval(step.interval),
      ]),
      { title: "By step" },
    ),
  ];
}

function survivalChart({ steps }: Pick<RunSurvival, "steps">): ReportPart[] {
  if (steps.length < 2) return [];
  const points = steps.map(({ step, survival, interval }) => ({
    step,
    share: survival,
    interval,
    baseline: null,
  }));
  return [
    { kind: "chart", caption: "Share that has not diverged, by step, with its 95 % interval.", points },
  ];
}

function teacherForcedParts({ teacher_forced: found }: RunReport): ReportPart[] {
  if (found === undefined) return [];
  if (found === null) {
    return [paragraph("There is no finished teacher-forced run of the same revision, target and params.")];
  }
  return [
    heading(2, "The same, teacher-forced"),
    paragraph(`Run ${found.name} (${found.run_id}).`),
    evaluatorTable(found.evaluators),
  ];
}

const formatCount = (count: number) => count.toLocaleString("en-US");
const formatMs = (ms: number) => `${ms < 10 ? ms.toFixed(1) : formatCount(Math.round(ms))} ms`;

/** $0.16, or with two significant digits below one cent. */
function formatCost(cost: number, currency: string): string {
  const digits = cost > 0 && cost < 0.00995 ? { maximumSignificantDigits: 2 } : {};
  return new Intl.NumberFormat("en-US", { style: "currency", currency, ...digits }).format(cost);
}

/** “2026-01-31 12:30 UTC” for an instant. */
const minuteOf = (instant: string) => `${instant.slice(0, 16).replace("T", " ")} UTC`;

function predictionRows({ latency_ms: latency, tokens, failures, ...report }: RunReport): string[][] {
  const rate = report.predictions_per_second;
  return [
    ...(latency === null
      ? []
      : [
          [
            "Latency",
            `${formatMs(latency.p50)} (median), ${formatMs(latency.p95)} (p95), ${formatMs(latency.p99)} (p99)`,
          ],
        ]),
    ...(rate === null ? [] : [["Predictions a second", String(Number(rate.toPrecision(3)))]]),
    [
      "Tokens of prompts",
      tokens.prompt === null
        ? "not counted"
        : `${formatCount(tokens.prompt)}, of which ${formatCount(tokens.cached ?? 0)} were cached`,
    ],
    ["Tokens of completions", tokens.completion === null ? "not counted" : formatCount(tokens.completion)],
    ...costRows(report),
    ...describeTrouble(report.run.progress).map((text) => ["On the way", text]),
    ...Object.entries(failures.predictions).map(([name, count]) => [
      `Failed predictions: ${name}`,
      String(count),
    ]),
    ...Object.entries(failures.evaluations).map(([name, count]) => [
      `Evaluations without a verdict: ${name}`,
      String(count),
    ]),
  ];
}

function costRows({ cost }: Pick<RunReport, "cost">): string[][] {
  if (cost === undefined || cost === null) return [];
  const { total, currency, unpriced_tokens: unpriced } = cost;
  return [
    ["Cost at today's prices", total === null ? "unknown" : formatCost(total, currency)],
    ...(unpriced === 0 ? [] : [["Tokens without a price", formatCount(unpriced)]]),
  ];
}

function provenanceRows({ run, provenance, evaluators }: RunReport, withTexts: boolean): string[][] {
  const tags = Object.entries(run.tags ?? {}).map(([name, text]) => `${name}=${text}`);
  return [
    ["Run", run.id],
    ["Status", run.status],
    ["Mode", run.mode],
    ["Repeats", String(run.repeats)],
    ["Id of the dataset", run.dataset_id ?? "none"],
    ["Digest of the revision", provenance.dataset_digest ?? "unknown"],
    ...(provenance.change && withTexts
      ? [["What counts as a change", JSON.stringify(provenance.change)]]
      : []),
    ["Evaluators", [...new Set(evaluators.map(({ evaluator }) => evaluator))].join(", ")],
    ["Models", provenance.models.join(", ")],
    ["Presage", provenance.presage_version],
    ["Statistics", `${provenance.statistics}, as in docs/statistics.md`],
    ["Prompt", provenance.prompt_version ?? "unknown"],
    ["Created", minuteOf(run.created_at)],
    ["Finished", run.finished_at === null ? "not yet" : minuteOf(run.finished_at)],
    ...(tags.length === 0 ? [] : [["Tags", tags.join(", ")]]),
  ];
}
