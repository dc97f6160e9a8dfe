import type { EvaluatorProfile } from "@presage/sdk";
import { useArchiveProfile } from "../../../data/evaluation/evaluator-profiles.ts";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { ConfirmDialog } from "../../../ui/overlay/confirm-dialog.tsx";

interface ArchiveProfileDialogProps {
  isOpen: boolean;
  onClose(): void;
  profile: EvaluatorProfile;
}

export function ArchiveProfileDialog({ isOpen, onClose, profile }: ArchiveProfileDialogProps) {
  const archive = useArchiveProfile(profile.public_id);
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={() => {
        archive.reset();
        onClose();
      }}
      title={`Archive ${profile.name}?`}
      confirmLabel="Archive profile"
      isBusy={archive.isPending}
      onConfirm={() => archive.mutate(undefined, { onSuccess: onClose })}
    >
      <div className="flex flex-col gap-3">
        <p>
          It can no longer be used or revised, and its name stays taken. Its results are kept. This cannot be
          undone.
        </p>
        {archive.error !== null && <ErrorNotice error={archive.error} />}
      </div>
    </ConfirmDialog>
  );
}
