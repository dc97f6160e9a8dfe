import { Link } from "@tanstack/react-router";
import { ListChecks } from "lucide-react";
import { buttonClass } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";

/** In place of rates, while there are none; `count` is of the evaluations without a verdict. */
export function NoVerdicts({ count }: { count: number }) {
  return (
    <EmptyState
      icon={ListChecks}
      title={
        count === 0
          ? "No direct evaluations in this period"
          : "No verdicts of direct evaluations in this period"
      }
      actions={
        <Link to="/playground" className={buttonClass({ size: "small" })}>
          Evaluate in the playground
        </Link>
      }
    >
      Make a prediction in the playground and evaluate the response there, or send outputs to{" "}
      <code className="font-mono text-xs">POST /v1/evaluate</code>.
    </EmptyState>
  );
}
