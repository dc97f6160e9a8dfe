import type { DeploymentStatus, World } from "@presage/sdk";
import { referenceOf } from "../../data/worlds.ts";
import { Fold } from "../../ui/card.tsx";
import { Segmented } from "../../ui/form/choices.tsx";
import { SelectField, TextField } from "../../ui/form/fields.tsx";
import type { BoundField } from "../../ui/form/form.tsx";
import type { RunDraft } from "./read-run-draft.ts";

interface TargetFieldsProps {
  deployments: readonly DeploymentStatus[];
  worlds: readonly World[];
  draft: RunDraft;
  field: BoundField<RunDraft>;
  onChange(part: Partial<RunDraft>): void;
}

const hints: Record<string, string> = {
  deployment: "A model behind this server.",
  world: "Its instructions, examples and model, without each sample’s own trajectory.",
  "no-change": "Predicts that nothing changes.",
  "most-frequent": "Predicts the most common next state of the same action in the other trajectories.",
  retrieval: "Predicts from the most similar sample of the other trajectories.",
};

/** The predictor, and its sampling parameters. */
export function TargetFields({ deployments, worlds, draft, field, onChange }: TargetFieldsProps) {
  const sampling = ["temperature", "seed", "max_tokens"] as const;
  const isSampled = sampling.some((name) => draft[name] !== "" || field(name, "params").issue !== undefined);
  return (
    <div className="flex flex-col gap-3 px-4 py-3">
      <div>
        <Segmented
          label="Target"
          value={draft.kind}
          options={[
            { value: "deployment", label: "Deployment" },
            ...(worlds.length > 0 || draft.kind === "world" ? [{ value: "world", label: "World" }] : []),
            { value: "no-change", label: "No change" },
            { value: "most-frequent", label: "Most frequent" },
            { value: "retrieval", label: "Retrieval" },
          ]}
          onChange={(kind) => onChange({ kind })}
        />
        <p className="mt-1 text-xs text-ink-3">{hints[draft.kind]}</p>
      </div>
      {draft.kind === "world" && (
        <SelectField
          label="World"
          {...field("world", "target")}
          options={[
            ...(draft.world === "" ? [{ value: "", label: "Choose a world" }] : []),
            ...worlds.map(referenceOf),
          ]}
        />
      )}
      {draft.kind === "deployment" && (
        <>
          <div className="grid gap-3 sm:grid-cols-2">
            <SelectField
              label="Deployment"
              {...field("deployment", "target")}
              options={[
                ...(draft.deployment === "" ? [{ value: "", label: "Choose a deployment" }] : []),
                ...deployments.map(({ name, model }) => ({
                  value: name,
                  label: model === null ? name : `${name} (${model})`,
                })),
              ]}
            />
            <TextField label="Model" hint="Optional. Overrides the deployment’s model." {...field("model")} />
          </div>
          <Fold
            title="Sampling"
            note={isSampled ? undefined : "the deployment’s defaults"}
            isOpen={isSampled}
          >
            <div className="grid gap-3 sm:grid-cols-3">
              <TextField label="Temperature" {...field("temperature", "params")} />
              <TextField label="Seed" hint="Repeat r uses the seed plus r." {...field("seed")} />
              <TextField label="Max tokens" {...field("max_tokens")} />
            </div>
          </Fold>
        </>
      )}
    </div>
  );
}
