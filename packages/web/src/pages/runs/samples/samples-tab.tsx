import type { Run } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { ListChecks } from "lucide-react";
import { buttonClass } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { SampleMatrix } from "./sample-matrix.tsx";

/** A run's samples. What a client has made itself has results only. */
export function SamplesTab({ run }: { run: Run }) {
  if (run.dataset_id === null) {
    return (
      <EmptyState
        icon={ListChecks}
        title="This run has results, and no predictions"
        actions={
          <Link to="/evaluations" search={{ run: run.id, view: "samples" }} className={buttonClass({})}>
            Its results by sample
          </Link>
        }
      >
        A client made them and sent the verdicts.
      </EmptyState>
    );
  }
  return (
    <div className="flex h-[max(28rem,calc(100dvh-11rem))] flex-col gap-3 pt-4 print:block print:h-auto">
      <SampleMatrix run={run} />
    </div>
  );
}
