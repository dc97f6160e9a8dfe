import type { ApiKeyResponse } from "@presage/sdk";
import { useRevokeApiKey } from "../../data/api-keys.ts";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { Time } from "../../ui/time.tsx";

/** Asks before a key is revoked; open as long as there is one. */
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
            ) stops working at once, and every program that calls with it is refused. This cannot be undone.
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
