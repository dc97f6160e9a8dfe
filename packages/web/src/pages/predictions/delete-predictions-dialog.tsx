import type { StoredPredictionFilter } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePresage } from "../../data/client.ts";
import {
  type StoredPredictionCount,
  storedPredictionCountQuery,
  useDeletePredictions,
} from "../../data/predictions.ts";
import { counted } from "../../format/numbers.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";

interface DeletePredictionsDialogProps {
  isOpen: boolean;
  onClose(): void;
  filter: StoredPredictionFilter;
  isFiltered: boolean;
}

/** Says how many predictions of live traffic match, and deletes them. */
export function DeletePredictionsDialog(props: DeletePredictionsDialogProps) {
  return props.isOpen ? <OpenDialog {...props} /> : null;
}

function OpenDialog({ isOpen, onClose, filter, isFiltered }: DeletePredictionsDialogProps) {
  const presage = usePresage();
  // What comes in while the dialog is open is not what was counted.
  const [before] = useState(() => new Date().toISOString());
  const { source, run_id: runId, to: _to, ...liveFilter } = filter;
  const isOfRuns = runId !== undefined || (source !== undefined && source !== "live");
  const { data, error, isPending, refetch } = useQuery({
    ...storedPredictionCountQuery(presage, { ...liveFilter, source: "live", to: before }),
    enabled: !isOfRuns,
  });
  const deletion = useDeletePredictions({ onSuccess: onClose });
  const canDelete = !isOfRuns && error === null && data?.count !== 0;
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title="Delete stored predictions"
      confirmLabel="Delete"
      isBusy={isPending || deletion.isPending}
      onConfirm={canDelete ? () => deletion.mutate({ before, filter: liveFilter }) : undefined}
    >
      {isOfRuns && <p>Predictions of runs and episodes are deleted with their run or episode.</p>}
      {data !== undefined && <p>{describeDeletable(data, isFiltered)}</p>}
      {!isOfRuns && isPending && <p>Counting…</p>}
      {error !== null && <ErrorNotice error={error} onRetry={refetch} />}
      {deletion.error !== null && (
        <div className="mt-3">
          <ErrorNotice error={deletion.error} />
        </div>
      )}
    </ConfirmDialog>
  );
}

/** What would be deleted, and what stays. */
function describeDeletable({ count, has_more }: StoredPredictionCount, isFiltered: boolean): string {
  if (count === 0)
    return `No prediction of live traffic ${isFiltered ? "matches the filters" : "is stored"}.`;
  const found = `${has_more ? "More than " : ""}${counted(count, "prediction")} of live traffic`;
  const match = count === 1 ? "matches" : "match";
  const which = isFiltered ? `${match} the filters` : "without a filter: all of the account";
  return `${found} ${which}. They are deleted with what was asked. This cannot be undone. Predictions of runs stay.`;
}
