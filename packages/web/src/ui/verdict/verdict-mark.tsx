import type { EvaluationStatus } from "@presage/sdk";
import { clsx } from "clsx";
import { CircleAlert, CircleCheck, CircleMinus, CircleX } from "lucide-react";
import { formatScore } from "../../format/numbers.ts";

interface VerdictMarkProps {
  status: EvaluationStatus;
  pass: boolean | null;
  score: number | null;
}

/** A verdict in little room: a sign and the score. What has no verdict never looks like a fail. */
export function VerdictMark({ status, pass, score }: VerdictMarkProps) {
  const { label, Icon, tone } = lookOf(status, pass);
  return (
    <span className="inline-flex items-center justify-end gap-1.5" title={label}>
      <Icon aria-label={label} role="img" className={clsx("size-3.5 shrink-0", tone)} />
      <span className="w-10 text-right tabular-nums">{formatScore(score)}</span>
    </span>
  );
}

function lookOf(status: EvaluationStatus, pass: boolean | null) {
  if (status === "not_applicable") return { label: "Not applicable", Icon: CircleMinus, tone: "text-ink-3" };
  if (status !== "success") return { label: "No verdict", Icon: CircleAlert, tone: "text-warn" };
  if (pass === null) return { label: "Score only", Icon: CircleMinus, tone: "text-ink-3" };
  return pass
    ? { label: "Pass", Icon: CircleCheck, tone: "text-pass" }
    : { label: "Fail", Icon: CircleX, tone: "text-fail" };
}
