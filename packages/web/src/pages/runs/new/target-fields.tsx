import type { DeploymentStatus } from "@presage/sdk";
import { Fold } from "../../../ui/card.tsx";
import { Segmented } from "../../../ui/form/choices.tsx";
import { SelectField, TextField } from "../../../ui/form/fields.tsx";
import type { ReadRunDraft, RunDraft } from "./read-run-draft.ts";

interface TargetFieldsProps {
  deployments: readonly DeploymentStatus[];
  draft: RunDraft;
  issues: { [Field in keyof RunDraft]?: ReadRunDraft["issues"][Field] | undefined };
  onChange(part: Partial<RunDraft>): void;
}

const hints: Record<string, string> = {
  deployment: "A model behind this server.",
  "no-change": "Predicts that nothing changes.",
  "most-frequent": "Predicts the most common next state of the same action in the other trajectories.",
  retrieval: "Predicts from the most similar sample of the other trajectories.",
};

/** What predicts, and how it samples. */
export function TargetFields({ deployments, draft, issues, onChange }: TargetFieldsProps) {
  const sampling = ["temperature", "seed", "max_tokens"] as const;
  const isSampled = sampling.some((field) => draft[field] !== "" || issues[field] !== undefined);
  return (
    <div className="flex flex-col gap-3 px-4 py-3">
      <div>
        <Segmented
          label="Target"
          value={draft.kind}
          options={[
            { value: "deployment", label: "Deployment" },
            { value: "no-change", label: "No change" },
            { value: "most-frequent", label: "Most frequent" },
            { value: "retrieval", label: "Retrieval" },
          ]}
          onChange={(kind) => onChange({ kind })}
        />
        <p className="mt-1 text-xs text-ink-3">{hints[draft.kind]}</p>
      </div>
      {draft.kind === "deployment" && (
        <>
          <div className="grid gap-3 sm:grid-cols-2">
            <SelectField
              label="Deployment"
              issue={issues.deployment}
              value={draft.deployment}
              options={[
                ...(draft.deployment === "" ? [{ value: "", label: "Choose a deployment" }] : []),
                ...deployments.map(({ name, model }) => ({
                  value: name,
                  label: model === null ? name : `${name} (${model})`,
                })),
              ]}
              onChange={(deployment) => onChange({ deployment })}
            />
            <TextField
              label="Model"
              hint="Optional. Overrides the deployment’s model."
              issue={issues.model}
              value={draft.model}
              onChange={(model) => onChange({ model })}
            />
          </div>
          <Fold
            title="Sampling"
            note={isSampled ? undefined : "the deployment’s defaults"}
            isOpen={isSampled}
          >
            <div className="grid gap-3 sm:grid-cols-3">
              <TextField
                label="Temperature"
                issue={issues.temperature}
                value={draft.temperature}
                onChange={(temperature) => onChange({ temperature })}
              />
              <TextField
                label="Seed"
                hint="Repeat r uses the seed plus r."
                issue={issues.seed}
                value={draft.seed}
                onChange={(seed) => onChange({ seed })}
              />
              <TextField
                label="Max tokens"
                issue={issues.max_tokens}
                value={draft.max_tokens}
                onChange={(max_tokens) => onChange({ max_tokens })}
              />
            </div>
          </Fold>
        </>
      )}
    </div>
  );
}
