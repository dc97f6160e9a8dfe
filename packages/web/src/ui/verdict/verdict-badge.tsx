import type { EvaluationStatus } from "@presage/sdk";
import { CircleAlert, CircleCheck, CircleMinus, CircleX } from "lucide-react";
import { Badge } from "../badge.tsx";

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
