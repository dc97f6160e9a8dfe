import type { Run, RunReport } from "@presage/sdk";
import { Card } from "../../../ui/card.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Fact } from "../../../ui/fact.tsx";

/** What the run was made with, to make it again. */
export function ProvenanceCard({ run, report: { provenance } }: { run: Run; report: RunReport }) {
  const { presage_version, prompt_version, dataset_digest, models, in_sample } = provenance;
  const params = run.params === null ? "defaults" : JSON.stringify(run.params);
  return (
    <Card title="Provenance">
      <dl className="flex flex-col gap-1 px-4 py-3 text-sm sm:grid sm:grid-cols-[10rem_minmax(0,1fr)]">
        <Fact look="row" name="Run">
          <span className="inline-flex items-center gap-1 font-mono text-xs">
            {run.id} <CopyButton text={run.id} label="Copy the run’s id" />
          </span>
        </Fact>
        <Fact look="row" name="Model, as it answered">
          {models.length === 0 ? "–" : models.join(", ")}
        </Fact>
        <Fact look="row" name="Parameters">
          <code className="font-mono text-xs">{params}</code>
        </Fact>
        <Fact look="row" name="Evaluators">
          {run.evaluators
            .map(
              ({ evaluator, profile_name, profile_revision }) =>
                evaluator +
                (profile_name === null ? "" : `, ${profile_name}`) +
                (profile_revision === null ? "" : `, revision ${profile_revision}`),
            )
            .join("; ") || "–"}
        </Fact>
        <Fact look="row" name="Dataset’s digest">
          <code className="font-mono text-xs">{dataset_digest ?? "–"}</code>
        </Fact>
        <Fact look="row" name="Versions">
          Presage {presage_version}
          {prompt_version !== null && `, prompt ${prompt_version}`}
        </Fact>
        {in_sample && (
          <Fact look="row" name="In sample">
            The baseline learnt from the revision that it predicts.
          </Fact>
        )}
      </dl>
    </Card>
  );
}
