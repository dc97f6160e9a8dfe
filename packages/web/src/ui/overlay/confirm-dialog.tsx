import { AlertDialog } from "radix-ui";
import type { ReactNode } from "react";
import { Button } from "../button.tsx";
import { Modal } from "./modal.tsx";
import { useReturnFocus } from "./use-return-focus.ts";

interface ConfirmDialogProps {
  isOpen: boolean;
  onClose(): void;
  title: string;
  /** The consequences, and whether they can be undone. */
  children: ReactNode;
  confirmLabel: string;
  /** Default: “Cancel”, or “Close” if there is nothing to confirm. */
  cancelLabel?: string | undefined;
  isBusy?: boolean;
  /** Undefined: there is nothing to confirm. */
  onConfirm: (() => void) | undefined;
}

/** Asks for confirmation. It stays open until its owner closes it. */
export function ConfirmDialog({
  isOpen,
  onClose,
  title,
  children,
  confirmLabel,
  isBusy = false,
  onConfirm,
  cancelLabel = onConfirm === undefined ? "Close" : "Cancel",
}: ConfirmDialogProps) {
  const returnFocus = useReturnFocus();
  return (
    <Modal
      kind={AlertDialog}
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      {...returnFocus}
      className="max-w-md p-5"
    >
      <AlertDialog.Title className="text-base font-semibold wrap-anywhere">{title}</AlertDialog.Title>
      <AlertDialog.Description asChild>
        <div className="mt-1.5 text-sm wrap-anywhere text-ink-2">{children}</div>
      </AlertDialog.Description>
      <div className="mt-5 flex justify-end gap-2">
        <AlertDialog.Cancel asChild>
          <Button>{cancelLabel}</Button>
        </AlertDialog.Cancel>
        {onConfirm !== undefined && (
          <Button variant="danger" isBusy={isBusy} onClick={onConfirm}>
            {confirmLabel}
          </Button>
        )}
      </div>
    </Modal>
  );
}
