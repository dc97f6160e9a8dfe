import type { Run } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePresage } from "../../../data/client.ts";
import { firstPredictionQuery } from "../../../data/runs.ts";
import { promptOf, roleLabels } from "../../../parts/prompt.ts";
import { Button } from "../../../ui/button.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";

/** What the model was sent for the first sample, on demand. Absent for runs that ask no model. */
export function PromptOfRun({ run }: { run: Run }) {
  const [isShown, setShown] = useState(false);
  const { data, error, refetch } = useQuery({
    ...firstPredictionQuery(usePresage(), run.id),
    enabled: isShown,
  });
  if (!("deployment" in run.target || "world" in run.target)) return null;
  if (!isShown) {
    return (
      <Button size="small" onClick={() => setShown(true)}>
        Show the prompt of the first sample
      </Button>
    );
  }
  if (error !== null) return <ErrorNotice error={error} onRetry={refetch} />;
  if (data === undefined) return <SkeletonRows count={3} />;
  const turns = data === null ? [] : promptOf(data);
  if (turns.length === 0) return <p className="text-sm text-ink-2">No sample has been predicted yet.</p>;
  return turns.map(({ role, content }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the turns of one prediction never change
    <PlainText key={index} text={content} label={roleLabels[role] ?? role} />
  ));
}
