import type { RunSample } from "@presage/sdk";
import { VerdictMark } from "../../../ui/verdict/verdict-mark.tsx";
import type { RunVerdict } from "../verdict-of.ts";

interface VerdictCellProps {
  sample: Pick<RunSample, "prediction">;
  /** Undefined until the evaluator has returned. */
  verdict: RunVerdict | undefined;
}

export function VerdictCell({ sample, verdict }: VerdictCellProps) {
  if (verdict !== undefined)
    return <VerdictMark status={verdict.status} pass={verdict.pass} score={verdict.score} />;
  const isFailed = sample.prediction.status === "failed";
  return (
    <span className="text-ink-3" title={isFailed ? "The prediction failed" : "Not judged yet"}>
      –<span className="sr-only">{isFailed ? "the prediction failed" : "not judged yet"}</span>
    </span>
  );
}
