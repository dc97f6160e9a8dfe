import { Popover as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { focusWhole } from "./focus-whole.ts";

interface PopoverProps {
  /** One element that takes a ref. */
  trigger: ReactNode;
  /** For screen readers. */
  label: string;
  /** It has nothing to fill in. */
  isReadOnly?: boolean;
  children: ReactNode;
}

export function Popover({ trigger, label, isReadOnly = false, children }: PopoverProps) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={label}
          align="start"
          sideOffset={6}
          collisionPadding={8}
          {...(isReadOnly && { onOpenAutoFocus: focusWhole })}
          className="z-40 max-h-(--radix-popover-content-available-height) w-96 max-w-[calc(100vw-1rem)] overflow-y-auto rounded-lg border border-line bg-surface p-4 shadow-float outline-none"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
