import type { Run } from "@presage/sdk";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ClipboardCheck } from "lucide-react";
import { usePresage } from "../data/client.ts";
import { ErrorNotice } from "../ui/notice.tsx";
import { AllowedButton } from "./allowed.tsx";

const size = 20;

/** Draws verdicts of a run that has ended, and opens them to be labelled. */
export function LabelSampleButton({ run }: { run: Run }) {
  const presage = usePresage();
  const navigate = useNavigate();
  const draw = useMutation({
    // Passes alone, or fails alone, would not say in which direction the evaluator errs.
    mutationFn: () =>
      presage.labels.draw(run.id, { size, by: "verdict", seed: Math.floor(Math.random() * 2 ** 31) }),
    onSuccess: ({ id }) => void navigate({ to: "/review", search: { run: run.id, drawn: id } }),
  });
  if (run.status !== "finished") return null;
  return (
    <>
      <AllowedButton
        needs="evaluate"
        icon={<ClipboardCheck aria-hidden />}
        isBusy={draw.isPending}
        onClick={() => draw.mutate()}
      >
        Label {size} of these
      </AllowedButton>
      {draw.error !== null && (
        <div className="w-full">
          <ErrorNotice error={draw.error} />
        </div>
      )}
    </>
  );
}
