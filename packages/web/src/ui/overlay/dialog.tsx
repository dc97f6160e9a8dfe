import { clsx } from "clsx";
import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { IconButton } from "../icon-button.tsx";
import { Modal } from "./modal.tsx";
import { useReturnFocus } from "./use-return-focus.ts";

interface DialogProps {
  isOpen: boolean;
  onClose(): void;
  title: string;
  hint?: ReactNode;
  /** For large forms. */
  isWide?: boolean;
  children: ReactNode;
}

export function Dialog({ isOpen, onClose, title, hint, isWide = false, children }: DialogProps) {
  const returnFocus = useReturnFocus();
  return (
    <Modal
      kind={Radix}
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      {...returnFocus}
      onOpenAutoFocus={(event) => {
        returnFocus.onOpenAutoFocus();
        focusFirstField(event);
      }}
      {...(hint === undefined ? { "aria-describedby": undefined } : {})}
      className={clsx(
        "flex max-h-[calc(100dvh-2rem)] flex-col outline-none",
        isWide ? "max-w-3xl" : "max-w-md",
      )}
    >
      <header className="flex items-start gap-3 px-5 pt-4 pb-3">
        <div className="min-w-0 flex-1">
          <Radix.Title className="text-base font-semibold wrap-anywhere">{title}</Radix.Title>
          {hint !== undefined && (
            <Radix.Description className="mt-0.5 text-sm wrap-anywhere text-ink-2">{hint}</Radix.Description>
          )}
        </div>
        <Radix.Close asChild>
          <IconButton label="Close" icon={<X aria-hidden />} className="-mr-1.5" />
        </Radix.Close>
      </header>
      <div className="min-h-0 overflow-y-auto px-5 pb-5">{children}</div>
    </Modal>
  );
}

/** Focuses the first field of a form, else the whole: the close button would show its tooltip, and Escape would close that first. */
function focusFirstField(event: Event): void {
  const { currentTarget: content } = event;
  if (!(content instanceof HTMLElement)) return;
  event.preventDefault();
  (content.querySelector<HTMLElement>("input, textarea, select") ?? content).focus();
}
