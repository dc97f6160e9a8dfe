import type { Dataset } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { usePresage } from "../../../data/client.ts";
import { runsOnDatasetQuery, useDeleteDataset } from "../../../data/datasets.ts";
import { counted } from "../../../format/numbers.ts";
import { ConfirmDialog } from "../../../ui/dialog.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";

interface DeleteDatasetDialogProps {
  dataset: Dataset;
  isOpen: boolean;
  onClose(): void;
}

const mostNames = 5;

/** Says what depends on the dataset, and goes with it. */
export function DeleteDatasetDialog({ dataset, isOpen, onClose }: DeleteDatasetDialogProps) {
  const presage = usePresage();
  const navigate = useNavigate();
  const runs = useQuery({ ...runsOnDatasetQuery(presage, dataset.id), enabled: isOpen, staleTime: 0 });
  const remove = useDeleteDataset(dataset.id);
  const count = runs.data?.length ?? 0;
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={() => {
        remove.reset();
        onClose();
      }}
      title={`Delete ${dataset.name}?`}
      confirmLabel={count === 0 ? "Delete dataset" : `Delete dataset and ${counted(count, "run")}`}
      isBusy={remove.isPending || runs.isPending}
      onConfirm={() => remove.mutate(count > 0, { onSuccess: () => navigate({ to: "/datasets" }) })}
    >
      <div className="flex flex-col gap-3">
        <p>
          All revisions are deleted. This cannot be undone. If you may need them again, download the dataset
          first.
        </p>
        {runs.data !== undefined && count > 0 && (
          <div>
            <p>
              {counted(count, "run")} on it {count === 1 ? "is" : "are"} deleted as well, with predictions and
              reports; evaluation results stay:
            </p>
            <ul className="mt-1 list-disc pl-5">
              {runs.data.slice(0, mostNames).map(({ id, name }) => (
                <li key={id}>
                  <InlineText text={name} />
                </li>
              ))}
              {count > mostNames && <li>and {counted(count - mostNames, "other")}</li>}
            </ul>
          </div>
        )}
        {runs.error !== null && <ErrorNotice error={runs.error} onRetry={runs.refetch} />}
        {remove.error !== null && <ErrorNotice error={remove.error} />}
      </div>
    </ConfirmDialog>
  );
}
