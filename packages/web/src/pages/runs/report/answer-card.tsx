import { formatPoints, measureNames } from "@presage/contract/describe-runs";
import type { ComparisonCandidate, Run, RunBaseline, RunReport } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { differenceOf, useBaselineDifference } from "../../../data/comparisons.ts";
import { useCreateRun } from "../../../data/runs.ts";
import {
  counted,
  countedIn,
  describeInterval,
  formatCost,
  formatCount,
  formatDuration,
  formatP,
  formatShare,
  formatShortCount,
  unbroken,
} from "../../../format/numbers.ts";
import { AllowedButton } from "../../../parts/allowed.tsx";
import { evaluatorKey, nameEvaluator } from "../../../parts/evaluator-names.ts";
import { Agreement } from "../../../parts/label-sample.tsx";
import { costOf1000 } from "../../../parts/predictions.ts";
import type { Said } from "../../../parts/runs.tsx";
import { Card, type Tile, Tiles } from "../../../ui/card.tsx";
import { IntervalTable } from "../../../ui/charts/interval-table.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { Decision } from "./decision.tsx";
import {
  figureOf,
  type Measure,
  measureExplanations,
  measureFormats,
  measureLabels,
} from "./describe-figures.ts";

interface AnswerCardProps {
  run: Run;
  report: RunReport;
  chosen: Chosen;
  measure: Measure;
}

type Chosen = RunReport["evaluators"][number];

interface Answer extends Said {
  detail: string;
}

const tones = { better: "pass", worse: "fail", undecided: "warn" } as const;

/** Whether the model is good enough: its figures next to those of the best baseline, and the difference. */
export function AnswerCard({ run, report, chosen, measure }: AnswerCardProps) {
  const { evaluators } = report;
  const known = useBaselineDifference(run, chosen.baseline);
  const difference = differenceOf(known?.comparison, chosen);
  const isComparing =
    run.status === "finished" &&
    (known === null || (known.baseline !== null && known.comparison === undefined && known.error === null));
  const answer: Answer = isComparing
    ? { tone: "neutral", text: "Comparing with the best baseline …", detail: "\u00a0" }
    : answerOf(
        run,
        chosen,
        difference,
        evaluators.length > 1 ? ` by ${nameEvaluator(chosen, evaluators)}` : "",
      );
  const isBaseline = "baseline" in run.target && run.target.baseline === "no-change";
  const asksModel = "deployment" in run.target || "world" in run.target;
  const rows = evaluators.map((one) => ({
    key: evaluatorKey(one),
    label: nameEvaluator(one, evaluators),
    ...figureOf(one, measure),
    ...(measure === "pass_rate" && { reference: one.baseline?.pass_rate ?? null }),
  }));
  const kind = kindOf(chosen.baseline);
  const differences = evaluators.flatMap((one) => {
    const found = differenceOf(known?.comparison, one);
    if (found === undefined || found.difference === null) return [];
    return [
      {
        key: evaluatorKey(one),
        label: nameEvaluator(one, evaluators),
        value: found.difference,
        lower: found.interval?.lower ?? null,
        upper: found.interval?.upper ?? null,
        pValue: formatP(found.p_adjusted),
        count: found.count,
        measure: found.measure,
        basis: `${found.wins} better, ${found.losses} worse, ${found.ties} same`,
      },
    ];
  });
  const compared = [...new Set(differences.map((one) => `${measureNames[one.measure]}s`))].join(" or ");

  return (
    <Card
      title={isBaseline ? "What is there to beat?" : "Is it good enough?"}
      actions={
        !isBaseline && (
          <span className="flex min-h-7 max-w-full flex-wrap items-center gap-2 text-sm">
            {known?.baseline === null && kind === "no change" && (
              <MeasureBaseline run={run} evaluators={evaluators} />
            )}
          </span>
        )
      }
    >
      <div className="flex flex-col gap-2 px-4 py-3 empty:hidden">
        {isBaseline ? (
          <p className="text-sm text-ink-2">Nothing was predicted: each state was taken for the next one.</p>
        ) : (
          <Decision run={run} report={report} chosen={chosen} answer={answer} />
        )}
        {[...report.provenance.warnings, ...(chosen.note === null ? [] : [chosen.note])].map((warning) => (
          <p key={warning} className={clsx("text-sm", warning === chosen.note ? "text-ink-2" : "text-warn")}>
            {warning}
          </p>
        ))}
      </div>
      <Tiles
        isInCard
        tiles={[
          ...rateTiles(chosen, nameEvaluator(chosen, evaluators), difference).slice(0, isBaseline ? 1 : 3),
          ...effortTiles(run, report).slice(0, asksModel ? 5 : 1),
        ]}
      />
      <div className="flex flex-col gap-2 px-4 py-3">
        {chosen.count > 0 && (
          <Agreement
            of={{ run: run.id, evaluator: chosen.evaluator, profile_name: chosen.profile_name ?? undefined }}
          />
        )}
        {chosen.corrected && (
          <p
            className="text-sm text-ink-2"
            title="Prediction-powered inference (PPI++), by the labels and all verdicts"
          >
            {unbroken(chosen.corrected.sentence)}{" "}
            {chosen.corrected.note !== null && (
              <span className="text-xs text-ink-3">{chosen.corrected.note}</span>
            )}
          </p>
        )}
        {known?.error != null && <ErrorNotice error={known.error} />}
      </div>
      <div
        className={clsx(
          "grid min-w-0 border-t border-line *:min-w-0",
          differences.length > 0 && "xl:grid-cols-2 xl:divide-x xl:divide-line",
        )}
      >
        <IntervalTable
          mark="bar"
          label={`${measureLabels[measure]} by evaluator`}
          rowLabel="Evaluator"
          valueLabel={measureLabels[measure]}
          explanation={measureExplanations[measure]}
          rows={rows}
          domain={[0, 1]}
          {...measureFormats[measure]}
          referenceLabel={measure === "pass_rate" ? "Best baseline" : "No change"}
          note={
            rows.some(({ reference }) => reference !== null)
              ? `The mark across a row is the ${measure === "pass_rate" ? "best measured" : "no-change"} baseline.`
              : undefined
          }
        />
        {differences.length > 0 && (
          <IntervalTable
            mark="dot"
            label={`Difference from ${kind}`}
            rowLabel="Evaluator"
            valueLabel="Points"
            explanation={`Paired difference of the ${compared} from the baseline ${kind}, in percentage points, on the samples that both have a verdict for. Interval at 95\u00a0%, clustered by trajectory; p is Holm’s.`}
            rows={differences}
            format={formatPoints}
            formatTick={(value) => formatPoints(value).replace(/\.0$/, "")}
            note={`Difference of the ${compared} from the baseline ${kind}, in percentage points.`}
          />
        )}
      </div>
    </Card>
  );
}

type Compared = Pick<
  ComparisonCandidate,
  "difference" | "interval" | "measure" | "outcome" | "survives_one_failure" | "wins" | "losses" | "ties"
>;

const titles: Record<ComparisonCandidate["outcome"], string> = {
  better: "Better than the best baseline",
  worse: "Worse than the best baseline",
  undecided: "Not shown to beat the best baseline",
};

/** “most frequent”. Without a named baseline, the comparison is with no change. */
function kindOf(baseline: RunBaseline | null): string {
  return (baseline?.kind ?? "no-change").replace("-", " ");
}

/** Whether the model is shown to be better than the best baseline. */
export function answerOf(
  { mode, status }: Pick<Run, "mode" | "status">,
  { pass_rate, baseline }: Pick<Chosen, "pass_rate" | "baseline">,
  compared: Compared | undefined,
  by: string,
): Answer {
  const kind = kindOf(baseline);
  if (compared === undefined || compared.difference === null) {
    if (pass_rate === null || baseline === null) {
      const whose = mode === "free-running" ? " free-running" : "";
      return { tone: "neutral", text: `No${whose} baseline to compare with.`, detail: "" };
    }
    const apart = `${formatPoints(pass_rate - baseline.pass_rate)} points of the pass rate`;
    const noPair =
      compared === undefined ? "it has no run of its own yet" : "no sample has a verdict in both runs";
    const why = status === "finished" ? noPair : "this run has not finished";
    return {
      tone: "neutral",
      text: `Difference from ${kind} not tested (${apart}): ${why}.`,
      detail: "",
    };
  }
  const { outcome, wins, losses, ties, difference, interval, measure } = compared;
  const better = outcome === "better" ? "the model" : kind;
  const undone =
    compared.survives_one_failure === false
      ? ` One trajectory in which ${better} fails whole would undo the difference.`
      : "";
  const range =
    interval === null ? "no interval" : `${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}`;
  return {
    tone: tones[outcome],
    text: `${titles[outcome]}${by}, ${kind}: ${formatPoints(difference)} points of the ${measureNames[measure]} (${range}).`,
    detail: `${counted(wins, "sample")} better, ${formatCount(losses)} worse, ${formatCount(ties)} the same.${undone}`,
  };
}

/** Creates the no-change run that is needed to test the difference. */
function MeasureBaseline({ run, evaluators }: { run: Run; evaluators: RunReport["evaluators"] }) {
  const create = useCreateRun();
  const { dataset_id, revision, status } = run;
  const comparable = run.evaluators.filter(({ evaluator, profile_id }) =>
    evaluators.some(
      (one) => one.no_change !== null && one.evaluator === evaluator && one.profile_id === profile_id,
    ),
  );
  if (status !== "finished" || dataset_id === null || comparable.length === 0) return null;
  if (create.data !== undefined)
    return (
      <span role="status" className="text-ink-2">
        Started{" "}
        <Link to="/runs/$runId" params={{ runId: create.data.id }} className="text-accent-ink underline">
          {create.data.name}
        </Link>
        , which predicts that nothing changes. The difference appears when it ends.
      </span>
    );
  const request = {
    name: "no change",
    dataset_id,
    revision,
    target: { baseline: "no-change" as const },
    evaluators: comparable.map(({ evaluator, profile_name }) => ({ evaluator, profile_name })),
  };
  return (
    <>
      <AllowedButton
        needs="evaluate"
        size="small"
        isBusy={create.isPending}
        onClick={() => create.mutate(request)}
      >
        Measure the difference
      </AllowedButton>
      {create.error !== null && <ErrorNotice error={create.error} />}
    </>
  );
}

const outcomeInks = { better: "text-pass", worse: "text-fail", undecided: "text-warn" } as const;

/** How often the model is right, and how much more often than the baseline. */
function rateTiles(figures: Chosen, evaluator: string, compared: Compared | undefined): Tile[] {
  const { pass_rate, pass_interval, baseline, count, trajectories } = figures;
  const { difference = null, interval = null, outcome = "undecided", measure = "score" } = compared ?? {};
  const kind = kindOf(baseline);
  return [
    {
      name: `Pass rate by ${evaluator}`,
      explanation: measureExplanations.pass_rate,
      value: formatShare(pass_rate),
      note: `${pass_interval === null ? "no interval" : describeInterval(pass_interval)} of ${countedIn(count, trajectories)}`,
    },
    {
      name: "Best baseline",
      value: formatShare(baseline?.pass_rate ?? null),
      note:
        baseline === null ? (
          "none measured"
        ) : baseline.run_id === null ? (
          kind
        ) : (
          <Link to="/runs/$runId" params={{ runId: baseline.run_id }} className="text-accent-ink underline">
            {kind}
          </Link>
        ),
    },
    {
      name: "Difference, points",
      explanation: `Of the ${measureNames[measure]} from the best baseline’s, paired by sample; the interval is at 95\u00a0%.`,
      value: (
        <span className={difference === null ? "" : outcomeInks[outcome]}>{formatPoints(difference)}</span>
      ),
      note:
        interval &&
        `${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}, of the ${measureNames[measure]}`,
    },
  ];
}

/** The failures, and the cost and the time of the predictions. */
function effortTiles({ progress }: Run, report: RunReport): Tile[] {
  const { cost, tokens, latency_ms: latency, predictions_per_second: speed } = report;
  const { failed_predictions: failed, without_verdict: unjudged, samples } = progress;
  const perThousand = costOf1000(report);
  const costOf = (amount: number | null) =>
    amount === null ? "–" : formatCost(amount, cost?.currency ?? "");
  const total = cost?.total ?? null;
  return [
    {
      name: "Failed",
      explanation:
        "Predictions that failed, after all tries; they and those without a verdict are in no rate.",
      value: <span className={failed > 0 ? "text-warn" : ""}>{formatCount(failed)}</span>,
      note: `of ${counted(samples, "prediction")}${unjudged > 0 ? `; ${formatCount(unjudged)} without a verdict` : ""}`,
    },
    {
      name: "Cost",
      explanation: `Of the predictions, at today’s prices; what judges cost is in People & spend. ${counted(cost?.unpriced_tokens ?? 0, "token")} of models without a price are not in it.`,
      value: cost == null ? "no prices" : costOf(total),
      note: perThousand !== undefined && `${costOf(perThousand)} for 1,000`,
    },
    {
      name: "Tokens",
      explanation: "Of all prompts and completions, as the upstream counted them.",
      value: formatShortCount(tokens.prompt === null ? null : tokens.prompt + (tokens.completion ?? 0)),
      note: `${formatCount(tokens.prompt)} in${tokens.cached ? `, ${formatCount(tokens.cached)} cached` : ""}, ${formatCount(tokens.completion)} out`,
    },
    {
      name: "Latency p95",
      explanation: "Of the successful predictions: 95\u00a0% took at most this.",
      value: latency === null ? "–" : formatDuration(latency.p95),
      note: latency && `p50 ${formatDuration(latency.p50)}, p99 ${formatDuration(latency.p99)}`,
    },
    {
      name: "Predictions a second",
      explanation: "From the run’s start to its end or its last prediction.",
      value: speed === null ? "–" : speed.toFixed(1),
    },
  ];
}
