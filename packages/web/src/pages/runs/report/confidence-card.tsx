import type { Run, RunCalibration, RunReport } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { usePresage } from "../../../data/client.ts";
import { calibrationQuery } from "../../../data/runs.ts";
import { counted, formatPercent, formatShare, unbroken } from "../../../format/numbers.ts";
import { Card } from "../../../ui/card.tsx";
import { CurveChart } from "../../../ui/charts/curve-plot.tsx";

interface ConfidenceCardProps {
  run: Run;
  chosen: RunReport["evaluators"][number];
}

/** Whether a run's confidences may be trusted: what can be kept at which risk, and how often it is as sure as right. */
export function ConfidenceCard({ run, chosen }: ConfidenceCardProps) {
  const { evaluator, profile_name } = chosen;
  const { data } = useQuery({
    ...calibrationQuery(usePresage(), run.id, evaluator, profile_name ?? undefined),
    // No other predictions have a confidence.
    enabled: run.status === "finished" && ("world" in run.target || "predictions" in run.target),
  });
  if (data === undefined || data.brier.count === 0) return null;
  const { sentence, of, without_confidence: without, left_out, reliability, risk_coverage } = data;
  const notes = [
    of === "score" ? "Of raw scores, before a calibration." : "",
    without > 0 ? `${counted(without, "prediction")} without one do not count.` : "",
    left_out > 0 ? `${counted(left_out, "prediction")} that it was calibrated on do not count.` : "",
  ];
  return (
    <Card title="Confidence" hint={notes.join(" ").trim()}>
      <p className="px-4 py-3 text-sm">{unbroken(sentence)}</p>
      {risk_coverage.length > 0 && (
        <CurveChart
          shape="line"
          label="Risk by what is kept"
          xLabel="Kept, %"
          yLabel="Wrong"
          series={[{ key: "risk", label: "Wrong among the kept", points: risk_coverage.map(pointOfRisk) }]}
          format={formatShare}
          formatTick={formatPercent}
          note="The surest are kept first. Intervals at 95&nbsp;%, as of a pass rate."
        />
      )}
      {reliability.length > 0 && (
        <CurveChart
          shape="line"
          label="Right by confidence"
          xLabel="Confidence, %"
          yLabel="Right"
          series={[
            { key: "bins", label: "Right", points: reliability.map(pointOfBin) },
            {
              key: "calibrated",
              label: "As sure as right",
              color: "var(--ink-3)",
              isDashed: true,
              points: reliability.map(({ confidence }) => ({ x: inPercent(confidence), value: confidence })),
            },
          ]}
          format={formatShare}
          formatTick={formatPercent}
          note="Bins of equal count by their mean confidence. Intervals at 95&nbsp;%, as of a pass rate."
        />
      )}
    </Card>
  );
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
