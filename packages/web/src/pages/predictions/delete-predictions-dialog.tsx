import type { KeptPredictionFilter } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { keptPredictionCountQuery, useDeletePredictions } from "../../data/kept-predictions.ts";
import { usePresage } from "../../data/use-presage.ts";
import { formatCount } from "../../format/format-number.ts";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";

interface DeletePredictionsDialogProps {
  isOpen: boolean;
  onClose(): void;
  filter: KeptPredictionFilter;
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
  const { source: _source, run_id: runId, to: _to, ...liveFilter } = filter;
  const isOfRuns = runId !== undefined || (filter.source !== undefined && filter.source !== "live");
  const { data: count, error: countError } = useQuery({
    ...keptPredictionCountQuery(presage, { ...liveFilter, source: "live", to: before }),
    enabled: !isOfRuns,
  });
  const deletion = useDeletePredictions({ onSuccess: onClose });
  const isNothing = isOfRuns || count?.count === 0;
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title="Delete stored predictions"
      confirmLabel={isNothing ? "Close" : "Delete"}
      isBusy={deletion.isPending || (count === undefined && !isOfRuns && countError === null)}
      onConfirm={() => (isNothing ? onClose() : deletion.mutate({ before, filter: liveFilter }))}
    >
      {isOfRuns ? (
        <p>Predictions of runs and episodes stay as long as these do: delete the run.</p>
      ) : (
        <p>
          {count === undefined
            ? "Counting…"
            : `${count.has_more ? "More than " : ""}${formatCount(count.count)} ${count.count === 1 ? "prediction" : "predictions"} of live traffic ${isFiltered ? "match the filters" : "are stored"}.`}{" "}
          {!isNothing &&
            "They are deleted with what was asked. This cannot be undone. Predictions of runs stay."}
        </p>
      )}
      {(deletion.error ?? countError) !== null && (
        <div className="mt-3">
          <ErrorNotice error={deletion.error ?? countError} />
        </div>
      )}
    </ConfirmDialog>
  );
}
