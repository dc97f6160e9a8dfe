import type { EvaluationResultDeletionCount, ResultFilter } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { usePresage } from "../../data/client.ts";
import type { ResultDeletion } from "../../data/result-deletions.ts";
import { deletableCountQuery } from "../../data/result-deletions.ts";
import { counted, formatCount } from "../../format/numbers.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";

interface DeleteResultsDialogProps {
  isOpen: boolean;
  onClose(): void;
  /** Continues when this is closed. */
  deletion: ResultDeletion;
  filter: ResultFilter;
  isFiltered: boolean;
}

/** Says how many results match, deletes them in the background and shows how far that is. */
export function DeleteResultsDialog(props: DeleteResultsDialogProps) {
  return props.isOpen ? <OpenDialog {...props} /> : null;
}

function OpenDialog({ isOpen, onClose, deletion, filter, isFiltered }: DeleteResultsDialogProps) {
  const presage = usePresage();
  const { begun } = deletion;
  const deletable = useQuery({ ...deletableCountQuery(presage, filter), enabled: !deletion.isBusy });
  const count = deletable.data?.count;
  const isNothing = count === 0;
  const error = deletion.refusal ?? deletable.error ?? deletion.progressError;
  // After a refusal another number matches.
  const isCountedAgain = deletion.refusal !== null || deletable.isError;
  function confirm(): void {
    if (isCountedAgain) {
      deletion.reset();
      void deletable.refetch();
    } else if (count !== undefined) deletion.begin({ filter, expectedCount: count });
  }
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title="Delete evaluation results"
      confirmLabel={isCountedAgain ? "Count again" : "Delete"}
      cancelLabel={begun === undefined ? undefined : "Close"}
      isBusy={deletable.isFetching || deletion.isBusy}
      onConfirm={isNothing && !isCountedAgain ? undefined : confirm}
    >
      {begun !== undefined && (
        <p role="status">
          {formatCount(deletion.deleted)} of {counted(begun.count, "result")} deleted. Deletion continues if
          you close this.
        </p>
      )}
      {begun === undefined && !deletable.isError && (
        <p>{deletable.data === undefined ? "Counting…" : describeDeletable(deletable.data, isFiltered)}</p>
      )}
      {error !== null && (
        <div className="mt-3">
          <ErrorNotice error={error} />
        </div>
      )}
    </ConfirmDialog>
  );
}

/** What would be deleted, and what stays because it belongs to something else. */
function describeDeletable({ count, kept }: EvaluationResultDeletionCount, isFiltered: boolean): string {
  const match = count === 1 ? "matches" : "match";
  const which = isFiltered ? `${match} the filters.` : "without a filter: all of the account.";
  const deleted =
    count === 0
      ? "No result can be deleted."
      : `${counted(count, "result")} ${which} With texts and corrections they are gone from every summary. This cannot be undone.`;
  if (kept === 0) return deleted;
  const belong = kept === 1 ? "belongs" : "belong";
  return `${deleted} ${formatCount(kept)} more ${belong} to runs or experiments and stay as long as these do.`;
}
