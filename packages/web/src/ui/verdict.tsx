import type { EvaluationStatus } from "@presage/sdk";
import { clsx } from "clsx";
import { CircleAlert, CircleCheck, CircleMinus, CircleX } from "lucide-react";
import { formatScore } from "../format/numbers.ts";
import { Badge } from "./badge.tsx";

/** The outcome of an evaluation. A missing verdict is a state of its own and never looks like a fail. */
export function VerdictBadge({ status, pass }: { status: EvaluationStatus; pass: boolean | null }) {
  if (status === "failed") {
    return (
      <Badge tone="warn" icon={<CircleAlert aria-hidden />}>
        Error
      </Badge>
    );
  }
  if (status === "validation_error") {
    return (
      <Badge tone="warn" icon={<CircleAlert aria-hidden />}>
        Unusable input
      </Badge>
    );
  }
  if (status === "contradictory") {
    return (
      <Badge tone="warn" icon={<CircleAlert aria-hidden />}>
        Contradictory
      </Badge>
    );
  }
  if (status === "not_applicable") return <Badge icon={<CircleMinus aria-hidden />}>Not applicable</Badge>;
  if (pass === null) {
    return <Badge icon={<CircleMinus aria-hidden />}>Score only</Badge>;
  }
  return pass ? (
    <Badge tone="pass" icon={<CircleCheck aria-hidden />}>
      Pass
    </Badge>
  ) : (
    <Badge tone="fail" icon={<CircleX aria-hidden />}>
      Fail
    </Badge>
  );
}

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

/** Characters of a name that a narrow column has room for. */
const shortNameCharacters = 14;

/** The width of a column of verdicts by the evaluator of this name. */
export function verdictColumnWidthPx(name: string): number {
  return name.length > shortNameCharacters ? 152 : 108;
}
