import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { IconButton } from "../icon-button.tsx";
import { useReturnFocus } from "./use-return-focus.ts";

interface DialogProps {
  isOpen: boolean;
  onClose(): void;
  title: string;
  hint?: ReactNode;
  /** For forms with much in them. */
  isWide?: boolean;
  children: ReactNode;
}

export function Dialog({ isOpen, onClose, title, hint, isWide = false, children }: DialogProps) {
  const returnFocus = useReturnFocus();
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Radix.Content
          {...returnFocus}
          onOpenAutoFocus={(event) => {
            returnFocus.onOpenAutoFocus();
            focusFirstField(event);
          }}
          {...(hint === undefined ? { "aria-describedby": undefined } : {})}
          className={`fixed top-1/2 left-1/2 z-40 flex max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-xl border border-line bg-surface shadow-float ${isWide ? "max-w-3xl" : "max-w-md"}`}
        >
          <header className="flex items-start gap-3 px-5 pt-4 pb-3">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-base font-semibold wrap-anywhere">{title}</Radix.Title>
              {hint !== undefined && (
                <Radix.Description className="mt-0.5 text-sm wrap-anywhere text-ink-2">
                  {hint}
                </Radix.Description>
              )}
            </div>
            <Radix.Close asChild>
              <IconButton label="Close" icon={<X aria-hidden />} className="-mr-1.5" />
            </Radix.Close>
          </header>
          <div className="min-h-0 overflow-y-auto px-5 pb-5">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** In a form the reader comes for the first field, not for the button that closes it. */
function focusFirstField(event: Event): void {
  const { currentTarget: content } = event;
  const field = content instanceof HTMLElement && content.querySelector("input, textarea, select");
  if (!(field instanceof HTMLElement)) return;
  event.preventDefault();
  field.focus();
}
