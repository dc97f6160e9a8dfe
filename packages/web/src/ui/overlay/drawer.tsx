import { clsx } from "clsx";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { focusWhole } from "./focus-whole.ts";

interface DrawerProps {
  isOpen: boolean;
  onClose(): void;
  /** For screen readers; the content shows its own title. */
  title: string;
  /** For texts beside each other. */
  isWide?: boolean;
  /** Absent: the focus returns to the previous element. */
  onCloseAutoFocus?(event: Event): void;
  children: ReactNode;
}

/** A panel on the right. The page stays usable, so that the user can step through rows. */
export function Drawer({ isOpen, onClose, title, isWide = false, onCloseAutoFocus, children }: DrawerProps) {
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()} modal={false}>
      <Radix.Portal>
        <Radix.Content
          aria-describedby={undefined}
          onOpenAutoFocus={focusWhole}
          {...(onCloseAutoFocus && { onCloseAutoFocus })}
          onInteractOutside={(event) => event.preventDefault()}
          className={clsx(
            "fixed inset-y-0 right-0 z-30 flex w-full flex-col border-l border-line bg-surface shadow-float outline-none",
            isWide ? "max-w-[min(100vw,78rem)]" : "max-w-[min(100vw,52rem)]",
          )}
        >
          <Radix.Title className="sr-only">{title}</Radix.Title>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
