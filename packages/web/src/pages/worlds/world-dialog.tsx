import { worldDefaults } from "@presage/contract/defaults";
import type { World, WorldConfig } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { findQueryError, usePresage } from "../../data/client.ts";
import { datasetsQuery } from "../../data/datasets.ts";
import { deploymentsQuery } from "../../data/predictions.ts";
import { useSaveWorld } from "../../data/worlds.ts";
import { counted } from "../../format/numbers.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { SelectField, TextAreaField, TextField } from "../../ui/form/fields.tsx";
import { bindDraft, DraftForm, type FieldIssue, fieldIssues, useDraft } from "../../ui/form/form.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";

interface WorldDialogProps {
  isOpen: boolean;
  onClose(): void;
  /** Absent: a new world is made. */
  revised?: World | undefined;
  /** For a new world: the id of the dataset of its examples. */
  dataset?: string | undefined;
  onSaved(world: World): void;
}

export function WorldDialog({ isOpen, onClose, revised, dataset, onSaved }: WorldDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      isWide
      hasForm
      title={revised === undefined ? "New world" : `Revise ${revised.name}`}
      hint="Each revision pins the dataset’s latest revision, so that the same question has the same examples."
    >
      <WorldForm revised={revised} dataset={dataset} onSaved={onSaved} />
    </Dialog>
  );
}

/** Values of the field for what answers; any other is a deployment’s name after a colon. */
const adapted = "adapted";
const nearest = "nearest";
const defaultDeployment = "deployment:";

const newDraft = {
  name: "",
  description: "",
  /** A dataset's id; empty: none. */
  dataset: "",
  split: "",
  answers: adapted,
  k: String(worldDefaults.k),
  /** Empty: no answer abstains. */
  least: "",
  instructions: "",
};
type WorldDraft = typeof newDraft;

function toWorldDraft({ name, config, pinned }: Pick<World, "name" | "config" | "pinned">): WorldDraft {
  const { model, examples } = config;
  return {
    name,
    description: config.description ?? "",
    dataset: pinned.examples?.dataset_id ?? "",
    split: examples?.split ?? "",
    answers: model && "kind" in model ? (model.answer ?? adapted) : `deployment:${model?.deployment ?? ""}`,
    k: String(config.retrieval?.k ?? newDraft.k),
    least: String(config.confidence?.min_confidence ?? ""),
    instructions: config.instructions ?? "",
  };
}

/** The fields that a form's input changes. Settings that are not in the form are kept; null removes a field. */
function readWorldDraft(draft: WorldDraft, before: WorldConfig): WorldConfig {
  const { description, dataset, split, answers, k, least, instructions } = draft;
  const { revision: _, split: __, ...others } = before.examples ?? {};
  const { model } = before;
  const deployment = answers.slice(defaultDeployment.length) || null;
  return {
    description: description.trim() || null,
    instructions: instructions === "" ? null : instructions,
    examples: dataset === "" ? null : { ...others, dataset, ...(split.trim() && { split: split.trim() }) },
    retrieval: { ...before.retrieval, k: Number(k) },
    ...(before.confidence && {
      confidence: { ...before.confidence, min_confidence: least.trim() === "" ? null : Number(least) },
    }),
    model:
      answers === adapted || answers === nearest
        ? { kind: "retrieval", answer: answers }
        : { ...(model && !("kind" in model) && model), deployment },
  };
}

const shownPaths = [
  ["name"],
  ["description"],
  ["model"],
  ["instructions"],
  ["examples", "dataset"],
  ["examples", "split"],
  ["retrieval", "k"],
  ["confidence", "min_confidence"],
];

function WorldForm({ revised, dataset, onSaved }: Omit<WorldDialogProps, "isOpen" | "onClose">) {
  const presage = usePresage();
  const queries = [useQuery(deploymentsQuery(presage)), useQuery(datasetsQuery(presage))] as const;
  const [{ data: deployments = [] }, { data: datasets }] = queries;
  const failure = findQueryError(queries);
  const usable = datasets?.filter(({ latest_revision }) => (latest_revision?.samples ?? 0) > 0) ?? [];
  // Someone else may revise the world in the meantime.
  const [origin] = useState(revised);
  const initial =
    origin === undefined ? { ...newDraft, dataset: dataset ?? usable[0]?.id ?? "" } : toWorldDraft(origin);
  const stored = useDraft(
    origin === undefined ? `new world${dataset ?? ""}` : `world ${origin.name} after ${origin.revision}`,
    initial,
  );
  const { draft, change } = stored;
  const save = useSaveWorld({ onSuccess: stored.discard });
  const refused: FieldIssue[] = fieldIssues(save.error, origin === undefined ? "name" : undefined);
  const isCount = /^\d{1,2}$/.test(draft.k) && Number(draft.k) <= 64;
  const isShare = draft.least.trim() === "" || (Number(draft.least) >= 0 && Number(draft.least) <= 1);
  const hasRecords = draft.dataset !== "";
  const isOfRecords = draft.answers === adapted || draft.answers === nearest;
  const name = draft.name.trim();
  const config = readWorldDraft(draft, origin?.config ?? {});
  const field = bindDraft(draft, change, refused, {
    k: isCount ? undefined : "Enter a whole number from 0 to 64.",
    least: isShare ? undefined : "Enter a number from 0 to 1.",
    dataset:
      isOfRecords && !hasRecords && datasets !== undefined ? "Records alone need a dataset." : undefined,
  });
  const isWrong = !isCount || !isShare || name === "" || (isOfRecords && !hasRecords);
  return (
    <DraftForm
      save={save}
      request={
        isWrong
          ? undefined
          : origin === undefined
            ? { request: { name, ...config } }
            : { name: origin.name, changes: config }
      }
      onSaved={onSaved}
      submitLabel={origin === undefined ? "Make the world" : `Save as revision ${origin.revision + 1}`}
      stored={stored}
      refused={refused}
      shownPaths={shownPaths}
      revisions={{ before: origin, now: revised }}
    >
      {origin === undefined && (
        <TextField
          label="Name"
          hint="Lower-case letters, digits and hyphens. Requests name it, and it cannot be changed."
          {...field("name")}
          required
        />
      )}
      <TextField label="Description" {...field("description")} />
      <div className="grid gap-3 sm:grid-cols-2">
        <SelectField
          label="Dataset"
          hint="Its recorded steps are the examples."
          {...field("dataset", "examples", "dataset")}
          options={[
            { value: "", label: "None" },
            ...usable.map(({ id, name, latest_revision: latest }) => ({
              value: id,
              label: `${name}, revision ${latest?.revision}: ${counted(latest?.samples ?? 0, "sample")}`,
            })),
          ]}
        />
        <TextField
          label="Split"
          hint="Only samples whose tag “split” is this. Empty: all but those of the split “test”."
          {...field("split", "examples", "split")}
          disabled={!hasRecords}
        />
        <SelectField
          label="Answers by"
          hint={isOfRecords ? "No model is asked." : "The model is shown the examples."}
          {...field("answers", "model")}
          options={[
            { value: adapted, label: "The records alone, words adapted" },
            { value: nearest, label: "The records alone, as they are" },
            { value: defaultDeployment, label: "The default deployment" },
            ...deployments.map(({ name, model }) => ({
              value: `deployment:${name}`,
              label: model === null ? name : `${name}: ${model}`,
            })),
          ]}
        />
        <TextField
          label="Examples in a prompt"
          hint="At most; 0 to 64."
          inputMode="numeric"
          {...field("k", "retrieval", "k")}
        />
        {origin?.config.confidence && (
          <TextField
            label="Least confidence"
            hint="Answers with less abstain. Empty: none do. What changes answers ends the calibration: empty it then."
            inputMode="decimal"
            {...field("least", "confidence", "min_confidence")}
          />
        )}
      </div>
      {(!isOfRecords || draft.instructions !== "") && (
        <TextAreaField
          label="Instructions"
          hint="The beginning of the system turn. Empty: a built-in text."
          {...field("instructions")}
        />
      )}
      {failure && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
    </DraftForm>
  );
}
