import type { ResultFilter } from "@presage/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { refreshResults } from "../../data/evaluation/evaluation-results.ts";
import {
  deletableCountQuery,
  deletionQuery,
  useDeleteResults,
} from "../../data/evaluation/result-deletions.ts";
import { usePresage } from "../../data/use-presage.ts";
import { counted } from "../../format/counted.ts";
import { formatCount } from "../../format/format-number.ts";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";

interface DeleteResultsDialogProps {
  isOpen: boolean;
  onClose(): void;
  filter: ResultFilter;
  isFiltered: boolean;
}

/** Says how many results match, deletes them in the background and shows how far that is. */
export function DeleteResultsDialog(props: DeleteResultsDialogProps) {
  return props.isOpen ? <OpenDialog {...props} /> : null;
}

function OpenDialog({ isOpen, onClose, filter, isFiltered }: DeleteResultsDialogProps) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  const deletable = useQuery(deletableCountQuery(presage, filter));
  const deletion = useDeleteResults(filter);
  const id = deletion.data?.id;
  const progress = useQuery({ ...deletionQuery(presage, id ?? ""), enabled: id !== undefined });
  const isFinished = progress.data?.status === "finished";
  const onFinished = useEffectEvent(close);
  useEffect(() => {
    if (isFinished) onFinished();
  }, [isFinished]);

  const { count, kept } = deletable.data ?? {};
  const isNothing = count === 0;
  const error = deletion.error ?? deletable.error ?? progress.error;
  function close(): void {
    if (id !== undefined) refreshResults(queryClient);
    onClose();
  }
  function confirm(): void {
    if (isNothing) close();
    else if (deletion.isError) {
      // Another number matches by now.
      deletion.reset();
      void deletable.refetch();
    } else if (count !== undefined) deletion.mutate(count);
  }
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={close}
      title="Delete evaluation results"
      confirmLabel={isNothing ? "Close" : deletion.isError ? "Count again" : "Delete"}
      isBusy={deletable.isFetching || deletion.isPending || id !== undefined}
      onConfirm={confirm}
    >
      {id !== undefined ? (
        <p role="status">
          {formatCount(progress.data?.deleted ?? 0)} of {counted(deletion.data?.count ?? 0, "result")}{" "}
          deleted. It goes on if you close this.
        </p>
      ) : count === undefined || kept === undefined ? (
        <p>Counting…</p>
      ) : (
        <p>
          {isNothing
            ? "No result can be deleted."
            : `${counted(count, "result")} ${isFiltered ? (count === 1 ? "matches the filters." : "match the filters.") : "without a filter: all that are listed."} With texts and corrections they are gone from every summary. This cannot be undone.`}{" "}
          {kept > 0 &&
            `${formatCount(kept)} more ${kept === 1 ? "belongs" : "belong"} to runs or experiments and stay as long as these do.`}
        </p>
      )}
      {error !== null && (
        <div className="mt-3">
          <ErrorNotice error={error} />
        </div>
      )}
    </ConfirmDialog>
  );
}
