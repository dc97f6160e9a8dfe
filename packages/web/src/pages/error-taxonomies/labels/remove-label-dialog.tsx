import type { ErrorTaxonomyRevision } from "@presage/sdk";
import { useRemoveTaxonomyLabel } from "../../../data/evaluation/error-taxonomies.ts";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { ConfirmDialog } from "../../../ui/overlay/confirm-dialog.tsx";

interface RemoveLabelDialogProps {
  /** Undefined: closed. */
  label: string | undefined;
  revision: ErrorTaxonomyRevision;
  onClose(): void;
}

export function RemoveLabelDialog({ label, revision, onClose }: RemoveLabelDialogProps) {
  const remove = useRemoveTaxonomyLabel(revision.id);
  return (
    <ConfirmDialog
      isOpen={label !== undefined}
      onClose={() => {
        remove.reset();
        onClose();
      }}
      title={`Remove the label ${label ?? ""}?`}
      confirmLabel="Remove label"
      isBusy={remove.isPending}
      onConfirm={() => label !== undefined && remove.mutate(label, { onSuccess: onClose })}
    >
      <div className="flex flex-col gap-3">
        <p>
          Evaluations whose profile uses this label fail until a revision of{" "}
          <bdi>{revision.error_taxonomy_name}</bdi> has it again.
        </p>
        {remove.error !== null && <ErrorNotice error={remove.error} />}
      </div>
    </ConfirmDialog>
  );
}
