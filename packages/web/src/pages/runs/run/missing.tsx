import type { Run } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Upload } from "lucide-react";
import { useRef } from "react";
import { usePresage } from "../../../data/client.ts";
import { runReportQuery, useJudgeAgain, useUploadPredictions } from "../../../data/runs.ts";
import { formatCount } from "../../../format/numbers.ts";
import { humanizeName } from "../../../format/words.ts";
import { AllowedButton } from "../../../parts/allowed.tsx";
import { nameEvaluators } from "../../../parts/evaluator-names.ts";
import { Card } from "../../../ui/card.tsx";
import { CodeBlock } from "../../../ui/code/code-block.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";

/** What a run needs whose predictions are made elsewhere and have not been uploaded. */
export function WaitingCard({ run: { id, progress } }: { run: Run }) {
  const input = useRef<HTMLInputElement>(null);
  const upload = useUploadPredictions(id);
  const command = `curl -H "Authorization: Bearer $PRESAGE_API_KEY" \\
  -H "Content-Type: application/x-ndjson" \\
  --data-binary @predictions.jsonl \\
  ${location.origin}/v1/runs/${id}/predictions`;
  return (
    <Card
      title={`Waiting for predictions: 0 of ${formatCount(progress.samples)} uploaded`}
      hint={
        'A line for each sample: {"dataset_sample_id": …, "prediction": …}. They are uploaded once, all together; samples without a line count as failed.'
      }
      actions={
        <AllowedButton
          needs="evaluate"
          variant="primary"
          icon={<Upload aria-hidden />}
          isBusy={upload.isPending}
          onClick={() => input.current?.click()}
        >
          Upload predictions
        </AllowedButton>
      }
    >
      <div className="flex flex-col gap-3 px-4 py-3">
        <input
          ref={input}
          type="file"
          hidden
          aria-label="Predictions"
          accept=".jsonl,.ndjson,.gz"
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            if (file !== undefined) upload.mutate(file);
            target.value = "";
          }}
        />
        {upload.error !== null && <ErrorNotice error={upload.error} />}
        <CodeBlock code={command} label="the command" language="shell" />
      </div>
    </Card>
  );
}

/** Which evaluators gave no verdict, the most frequent reason, where to read all of them, and another try. */
export function Unjudged({ run }: { run: Run }) {
  const { data: report } = useQuery(runReportQuery(usePresage(), run));
  const judgeAgain = useJudgeAgain(run.id);
  const { evaluators = [], failures } = report ?? {};
  const hasFailed = (index: number) => (evaluators[index]?.failed ?? 0) > 0;
  const by = nameEvaluators(evaluators).filter((_, index) => hasFailed(index));
  const [most] = Object.entries(failures?.evaluations ?? {}).sort((one, other) => other[1] - one[1]);
  return (
    <>
      {formatCount(run.progress.without_verdict)} without a verdict
      {by.length > 0 && ` by ${by.join(", ")}`}
      {most !== undefined &&
        most[0] !== "failed" &&
        `, most often because of ${humanizeName(most[0]).toLowerCase()}`}
      .{" "}
      <Link
        to="/evaluations"
        search={{ run: run.id, verdict: "error", view: "verdicts" }}
        className="text-accent-ink underline underline-offset-2"
      >
        The errors
      </Link>
      {run.status === "finished" && by.length > 0 && (
        <AllowedButton
          needs="evaluate"
          className="ml-3"
          isBusy={judgeAgain.isPending}
          onClick={() => judgeAgain.mutate(run.evaluators.filter((_, index) => hasFailed(index)))}
        >
          Judge again
        </AllowedButton>
      )}
      {judgeAgain.error !== null && <ErrorNotice error={judgeAgain.error} />}
    </>
  );
}
