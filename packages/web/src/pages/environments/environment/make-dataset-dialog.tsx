import type { EpisodeSelection } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { usePresage } from "../../../data/client.ts";
import { datasetsQuery } from "../../../data/datasets.ts";
import { useMakeDataset } from "../../../data/episodes.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { SelectField, TextField } from "../../../ui/form/fields.tsx";
import { DialogButtons, fieldIssues, issueAt } from "../../../ui/form/form.tsx";
import { Checkbox } from "../../../ui/form/inputs.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";

interface MakeDatasetDialogProps {
  isOpen: boolean;
  onClose(): void;
  selection: EpisodeSelection;
  isFiltered: boolean;
}

/** Makes trajectories from the episodes shown, for runs and evaluators to work on. */
export function MakeDatasetDialog({ isOpen, onClose, ...form }: MakeDatasetDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      hasForm
      title="Episodes to a dataset"
      hint={`${form.isFiltered ? "All episodes that match the filters" : "All episodes of the environment"} become trajectories of a revision, so that runs and evaluators work on them.`}
    >
      <MakeDatasetForm {...form} onClose={onClose} />
    </Dialog>
  );
}

function MakeDatasetForm({ selection, onClose }: Omit<MakeDatasetDialogProps, "isOpen" | "isFiltered">) {
  const navigate = useNavigate();
  const { data: datasets = [] } = useQuery(datasetsQuery(usePresage()));
  const [id, setId] = useState("");
  const [name, setName] = useState(`${selection.environment ?? "episodes"}-rollouts`);
  const [isAppended, setAppended] = useState(false);
  const make = useMakeDataset();
  const issues = fieldIssues(make.error, "name");
  const nameIssue = id === "" ? issueAt(issues, "name") : undefined;
  return (
    <form
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        make.mutate(
          { dataset: id === "" ? { name: name.trim() } : { id }, selection, append: id !== "" && isAppended },
          {
            onSuccess({ id, revision }) {
              onClose();
              void navigate({
                to: "/datasets/$datasetId",
                params: { datasetId: id },
                search: { revision: revision.revision },
              });
            },
          },
        );
      }}
    >
      <SelectField
        label="Dataset"
        value={id}
        options={[
          { value: "", label: "A new one" },
          ...datasets.map((dataset) => ({ value: dataset.id, label: dataset.name })),
        ]}
        onChange={setId}
      />
      {id === "" ? (
        <TextField label="Name" issue={nameIssue} value={name} onChange={setName} required />
      ) : (
        <Checkbox
          label="Keep the trajectories of its latest revision"
          checked={isAppended}
          onChange={({ target }) => setAppended(target.checked)}
        />
      )}
      {make.error !== null && nameIssue === undefined && <ErrorNotice error={make.error} />}
      <DialogButtons onCancel={onClose} isBusy={make.isPending} disabled={id === "" && name.trim() === ""}>
        Make the revision
      </DialogButtons>
    </form>
  );
}
