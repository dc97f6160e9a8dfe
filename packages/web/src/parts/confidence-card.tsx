import type { Run, RunCalibration, RunReport } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { usePresage } from "../data/client.ts";
import { calibrationQuery } from "../data/runs.ts";
import { counted, formatPercent, formatShare, unbroken } from "../format/numbers.ts";
import { Card } from "../ui/card.tsx";
import type { CurvePoint } from "../ui/charts/curve.ts";
import { CurveChart } from "../ui/charts/curve-plot.tsx";
import { niceEnd } from "../ui/charts/scale.ts";
import { Awaited } from "../ui/notice.tsx";

interface ConfidenceCardProps {
  run: Run;
  chosen: RunReport["evaluators"][number];
}

/** Whether a run's confidences can be trusted: how much can be kept at which risk, and how well confidence matches accuracy. */
export function ConfidenceCard({ run, chosen }: ConfidenceCardProps) {
  const { evaluator, profile_name } = chosen;
  const { data, error, refetch } = useQuery({
    ...calibrationQuery(usePresage(), run.id, evaluator, profile_name ?? undefined),
    // Predictions of other targets have no confidence.
    enabled: run.status === "finished" && ("world" in run.target || "predictions" in run.target),
  });
  if (error !== null && data === undefined)
    return (
      <Card title="Confidence">
        <Awaited error={error} onRetry={refetch} count={4} />
      </Card>
    );
  if (data === undefined || data.brier.count === 0) return null;
  const { sentence, of, without_confidence: without, left_out } = data;
  const notes = [
    of === "score" ? "Raw scores, before calibration." : "",
    without > 0 ? `Left out: ${counted(without, "prediction")} without a confidence.` : "",
    left_out > 0 ? `Left out: ${counted(left_out, "prediction")} that it was calibrated on.` : "",
  ];
  return (
    <Card title="Confidence" hint={notes.join(" ").trim()}>
      <p className="px-4 py-3 text-sm">{unbroken(sentence)}</p>
      <ConfidenceCharts of={data} />
    </Card>
  );
}

/** How many predictions can be kept at which risk, and how well confidence matches accuracy. */
export function ConfidenceCharts({ of }: { of: RunCalibration }) {
  const { reliability, risk_coverage, coverage_at_risk: kept } = of;
  const risks = risk_coverage.map(pointOfRisk);
  const highest = Math.max(kept.risk, ...risks.map(({ value, upper = value }) => upper));
  const bins = reliability.map(pointOfBin);
  return (
    <>
      {risks.length > 0 && (
        <div>
          <h3 className={title}>Wrong answers, if only the surest are kept</h3>
          <CurveChart
            shape="line"
            label="Risk by what is kept"
            xLabel="Kept, %"
            yLabel="Wrong"
            series={[
              { key: "risk", label: "Wrong among the kept", points: risks },
              {
                ...reference,
                label: `Allowed: ${formatShare(kept.risk)}`,
                points: across(risks, () => kept.risk),
              },
            ]}
            domain={[0, Math.min(1, niceEnd(highest, 4))]}
            format={formatShare}
            formatTick={formatPercent}
            note="The surest are kept first. Intervals at 95&nbsp;%, as of a pass rate."
          />
        </div>
      )}
      {bins.length > 0 && (
        <div>
          <h3 className={title}>Is 80&nbsp;% sure right 80&nbsp;% of the time?</h3>
          <CurveChart
            shape="line"
            label="Right by confidence"
            xLabel={of.of === "score" ? "Score before calibration, %" : "Confidence, %"}
            yLabel="Right"
            series={[
              { key: "bins", label: "Right", points: bins },
              { ...reference, label: "Perfect", points: across(bins, (x) => x / 100) },
            ]}
            format={formatShare}
            formatTick={formatPercent}
            note="Bins of equal count by their mean confidence. Intervals at 95&nbsp;%, as of a pass rate."
          />
        </div>
      )}
    </>
  );
}

const title = "px-4 pt-2 text-sm font-semibold";

const reference = { key: "reference", color: "var(--color-ink-3)", isDashed: true };

/** A line to compare with across the whole axis, with a value at each place of the other line. */
function across(points: readonly CurvePoint[], valueAt: (x: number) => number): CurvePoint[] {
  const xs = new Set([0, ...points.map(({ x }) => x), 100]);
  return [...xs].sort((one, other) => one - other).map((x) => ({ x, value: valueAt(x) }));
}

const inPercent = (share: number) => Math.round(1000 * share) / 10;

function pointOfRisk({ coverage, risk, interval, threshold }: RunCalibration["risk_coverage"][number]) {
  const { lower, upper } = interval ?? {};
  return { x: inPercent(coverage), value: risk, lower, upper, basis: `from ${formatShare(threshold)} on` };
}

function pointOfBin({ confidence, pass_rate, interval, count }: RunCalibration["reliability"][number]) {
  const { lower, upper } = interval ?? {};
  return { x: inPercent(confidence), value: pass_rate, lower, upper, basis: counted(count, "prediction") };
}
