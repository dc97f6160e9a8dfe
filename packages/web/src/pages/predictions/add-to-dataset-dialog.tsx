import type { DatasetRevision, DatasetSample, StoredPredictionDetail } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { CircleCheck } from "lucide-react";
import { useState } from "react";
import { usePresage } from "../../data/client.ts";
import { datasetsQuery, type NewSample, useAddSample } from "../../data/datasets.ts";
import { counted } from "../../format/numbers.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { SelectField, TextAreaField, TextField } from "../../ui/form/fields.tsx";
import { DialogButtons } from "../../ui/form/form.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";

interface AddToDatasetDialogProps {
  isOpen: boolean;
  onClose(): void;
  sample: NewSample;
}

export function AddToDatasetDialog({ isOpen, onClose, sample }: AddToDatasetDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Add to a dataset"
      hint="The transition becomes a sample of a new revision. Earlier revisions, and runs on them, stay as they are."
      isWide
      hasForm
    >
      <AddForm sample={sample} onClose={onClose} />
    </Dialog>
  );
}

const newDataset = "new";

function AddForm({ sample, onClose }: Omit<AddToDatasetDialogProps, "isOpen">) {
  const { data: datasets, error: listError } = useQuery(datasetsQuery(usePresage()));
  const [chosen, setChosen] = useState<string>();
  const [name, setName] = useState("");
  const [trajectory, setTrajectory] = useState(sample.trajectory_id);
  const [nextState, setNextState] = useState(sample.next_state);
  const add = useAddSample();
  const datasetId = chosen ?? datasets?.[0]?.id ?? newDataset;
  const isNew = datasetId === newDataset;
  const isComplete = trajectory.trim() !== "" && (!isNew || name.trim() !== "");

  if (add.data !== undefined) return <Added to={add.data} onClose={onClose} />;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isComplete || add.isPending) return;
        const dataset = isNew ? { name: name.trim() } : { id: datasetId };
        add.mutate({
          dataset,
          sample: { ...sample, trajectory_id: trajectory.trim(), next_state: nextState },
        });
      }}
    >
      {listError !== null && <ErrorNotice error={listError} />}
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="Dataset"
          value={datasetId}
          disabled={datasets === undefined}
          options={[
            ...(datasets ?? []).map(({ id, name }) => ({ value: id, label: name })),
            { value: newDataset, label: "A new dataset" },
          ]}
          onChange={setChosen}
        />
        {isNew && <TextField label="Its name" value={name} maxLength={200} onChange={setName} />}
        <TextField
          label="Trajectory"
          hint="Samples of one trajectory form one cluster. This will be its step 0."
          value={trajectory}
          maxLength={180}
          onChange={setTrajectory}
        />
      </div>
      <TextAreaField
        label="Next state"
        hint="What predictions are evaluated against. Correct it if the response was wrong."
        value={nextState}
        rows={6}
        onChange={setNextState}
      />
      {add.error !== null && <ErrorNotice error={add.error} />}
      <DialogButtons onCancel={onClose} isBusy={add.isPending} disabled={!isComplete}>
        Add sample
      </DialogButtons>
    </form>
  );
}

function Added({ to: { revision, samples }, onClose }: { to: DatasetRevision; onClose(): void }) {
  return (
    <div className="flex flex-col gap-4">
      <p role="status" className="flex items-center gap-2 text-sm">
        <CircleCheck className="size-4 shrink-0 text-pass" aria-hidden />
        Added. Revision {revision} has {counted(samples, "sample")}.
      </p>
      <div className="flex justify-end">
        <Button variant="primary" onClick={onClose} autoFocus>
          Close
        </Button>
      </div>
    </div>
  );
}

type Messages = NonNullable<DatasetSample["messages"]>;

/** A prediction as a recorded transition; undefined if the request is not known, or is more than text. */
export function toSample(prediction: StoredPredictionDetail): NewSample | undefined {
  const { id, context, interaction, output } = prediction;
  const asked =
    interaction === null
      ? toMessages(prediction.messages)
      : { interaction, ...(context !== null && { context }) };
  if (asked === undefined) return undefined;
  return {
    trajectory_id: `prediction-${id}`,
    step: 0,
    ...asked,
    next_state: output ?? "",
    tags: { source: "captured" },
  };
}

const roles = ["system", "user", "assistant"] as const;

function toMessages(messages: StoredPredictionDetail["messages"]): { messages: Messages } | undefined {
  if (messages === null || messages.length === 0) return undefined;
  const read = messages.map(({ role, content }) => {
    const known = roles.find((one) => one === role);
    return known === undefined || typeof content !== "string" ? undefined : { role: known, content };
  });
  return read.includes(undefined) ? undefined : { messages: read.filter((turn) => turn !== undefined) };
}
