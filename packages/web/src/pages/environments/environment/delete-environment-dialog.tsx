import type { Environment } from "@presage/sdk";
import { useNavigate } from "@tanstack/react-router";
import { useDeleteEnvironment } from "../../../data/environments/environments.ts";
import { counted } from "../../../format/counted.ts";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { ConfirmDialog } from "../../../ui/overlay/confirm-dialog.tsx";

interface DeleteEnvironmentDialogProps {
  environment: Environment;
  episodes: number;
  isOpen: boolean;
  onClose(): void;
}

/** Says what goes with the environment. */
export function DeleteEnvironmentDialog({
  environment: { name },
  episodes,
  isOpen,
  onClose,
}: DeleteEnvironmentDialogProps) {
  const navigate = useNavigate();
  const remove = useDeleteEnvironment(name);
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={() => {
        remove.reset();
        onClose();
      }}
      title={`Delete ${name}?`}
      confirmLabel={
        episodes === 0 ? "Delete environment" : `Delete environment and ${counted(episodes, "episode")}`
      }
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate(episodes > 0, { onSuccess: () => navigate({ to: "/environments" }) })}
    >
      <p>
        Its revisions and tasks are deleted
        {episodes > 0 && `, and ${counted(episodes, "episode")} with all steps`}. This cannot be undone.
        Datasets that were made of its episodes stay.
      </p>
      {remove.error !== null && <ErrorNotice error={remove.error} />}
    </ConfirmDialog>
  );
}
