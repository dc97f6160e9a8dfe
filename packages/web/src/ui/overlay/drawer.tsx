import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";

interface DrawerProps {
  isOpen: boolean;
  onClose(): void;
  /** Read out, and shown by the content in its own way. */
  title: string;
  /** Where the keyboard goes then; absent, to what it was at before. */
  onCloseAutoFocus?(event: Event): void;
  children: ReactNode;
}

/** A page of its own on the right of the one below, which stays usable: rows can be gone through while it is open. */
export function Drawer({ isOpen, onClose, title, onCloseAutoFocus, children }: DrawerProps) {
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()} modal={false}>
      <Radix.Portal>
        <Radix.Content
          aria-describedby={undefined}
          onOpenAutoFocus={focusWhole}
          {...(onCloseAutoFocus && { onCloseAutoFocus })}
          onInteractOutside={(event) => event.preventDefault()}
          className="fixed inset-y-0 right-0 z-30 flex w-full max-w-[min(100vw,52rem)] flex-col border-l border-line bg-surface shadow-float outline-none"
        >
          <Radix.Title className="sr-only">{title}</Radix.Title>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Not its first button, whose name would pop up. */
function focusWhole(event: Event): void {
  event.preventDefault();
  if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
}
