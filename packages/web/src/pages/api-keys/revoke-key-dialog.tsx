import type { ApiKeyResponse } from "@presage/sdk";
import { useRevokeApiKey } from "../../data/api-keys.ts";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { Time } from "../../ui/time.tsx";

/** Open while `apiKey` is defined. */
export function RevokeKeyDialog({
  apiKey,
  onClose,
}: {
  apiKey: ApiKeyResponse | undefined;
  onClose(): void;
}) {
  const { mutate, error, isPending, reset } = useRevokeApiKey();
  function close() {
    reset();
    onClose();
  }
  return (
    <ConfirmDialog
      isOpen={apiKey !== undefined}
      onClose={close}
      title="Revoke this key?"
      confirmLabel="Revoke key"
      isBusy={isPending}
      onConfirm={() => apiKey !== undefined && mutate(apiKey.id, { onSuccess: onClose })}
    >
      {apiKey !== undefined && (
        <div className="flex flex-col gap-3">
          <p>
            <strong className="font-semibold wrap-anywhere text-ink">{apiKey.name}</strong> (
            <span className="font-mono text-xs">
              {apiKey.prefix}…{apiKey.last_four}
            </span>
            ) stops working immediately, and every program that uses it is rejected. This cannot be undone.
          </p>
          <p>
            {apiKey.last_used_at ? (
              <>
                It was last used <Time at={apiKey.last_used_at} />.
              </>
            ) : (
              "It has never been used."
            )}
          </p>
          {error !== null && <ErrorNotice error={error} />}
        </div>
      )}
    </ConfirmDialog>
  );
}
