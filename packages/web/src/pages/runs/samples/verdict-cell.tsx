import type { RunSample } from "@presage/sdk";
import { clsx } from "clsx";
import { CircleAlert, CircleCheck, CircleMinus, CircleX } from "lucide-react";
import { formatScore } from "../../../format/format-number.ts";
import type { RunVerdict } from "../verdict-of.ts";

/** A verdict in little room: a sign and the score. What has no verdict never looks like a fail. */
export function VerdictCell({
  sample,
  verdict,
}: {
  sample: Pick<RunSample, "prediction">;
  verdict: RunVerdict | undefined;
}) {
  if (verdict === undefined) {
    const isFailed = sample.prediction.status === "failed";
    return (
      <span className="text-ink-3" title={isFailed ? "The prediction failed" : "Not judged yet"}>
        –<span className="sr-only">{isFailed ? "the prediction failed" : "not judged yet"}</span>
      </span>
    );
  }
  const { label, Icon, tone } = lookOf(verdict);
  return (
    <span className="inline-flex items-center justify-end gap-1.5" title={label}>
      <Icon aria-label={label} role="img" className={clsx("size-3.5 shrink-0", tone)} />
      <span className="w-10 text-right tabular-nums">{formatScore(verdict.score)}</span>
    </span>
  );
}

function lookOf({ pass, status }: RunVerdict) {
  if (status !== "success") return { label: "No verdict", Icon: CircleAlert, tone: "text-warn" };
  if (pass === null) return { label: "Score only", Icon: CircleMinus, tone: "text-ink-3" };
  return pass
    ? { label: "Pass", Icon: CircleCheck, tone: "text-pass" }
    : { label: "Fail", Icon: CircleX, tone: "text-fail" };
}
