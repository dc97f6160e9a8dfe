import { AlertDialog } from "radix-ui";
import type { ReactNode } from "react";
import { Button } from "../button.tsx";
import { useReturnFocus } from "./use-return-focus.ts";

interface ConfirmDialogProps {
  isOpen: boolean;
  onClose(): void;
  title: string;
  /** What will happen, and whether it can be undone. */
  children: ReactNode;
  confirmLabel: string;
  isBusy?: boolean;
  onConfirm(): void;
}

/** Asks before something that cannot be undone. It stays open until the owner closes it. */
export function ConfirmDialog({
  isOpen,
  onClose,
  title,
  children,
  confirmLabel,
  isBusy = false,
  onConfirm,
}: ConfirmDialogProps) {
  const returnFocus = useReturnFocus();
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="fixed inset-0 z-40 bg-black/45" />
        <AlertDialog.Content
          {...returnFocus}
          className="fixed top-1/2 left-1/2 z-40 w-[calc(100vw-2rem)] max-w-md -translate-x-1/2 -translate-y-1/2 rounded-xl border border-line bg-surface p-5 shadow-float"
        >
          <AlertDialog.Title className="text-base font-semibold wrap-anywhere">{title}</AlertDialog.Title>
          <AlertDialog.Description asChild>
            <div className="mt-1.5 text-sm wrap-anywhere text-ink-2">{children}</div>
          </AlertDialog.Description>
          <div className="mt-5 flex justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>Cancel</Button>
            </AlertDialog.Cancel>
            <Button variant="danger" isBusy={isBusy} onClick={onConfirm}>
              {confirmLabel}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
