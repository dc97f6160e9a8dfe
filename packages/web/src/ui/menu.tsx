// What opens beside the button that is pressed.

import { clsx } from "clsx";
import { Check } from "lucide-react";
import { DropdownMenu, Popover as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { focusWhole } from "./dialog.tsx";

/** The trigger must be one element that takes a ref. */
export function Menu({ trigger, children }: { trigger: ReactNode; children: ReactNode }) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={6}
          collisionPadding={8}
          className="z-50 min-w-44 rounded-lg border border-line bg-surface p-1 shadow-float"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

const itemLook =
  "flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 text-sm outline-none data-highlighted:bg-hover";

export function MenuItem({
  icon,
  isDangerous = false,
  refusal,
  onSelect,
  children,
}: {
  icon?: ReactNode;
  isDangerous?: boolean;
  /** Why it does nothing. It can still be reached, so that the reason is read. */
  refusal?: string | undefined;
  onSelect(): void;
  children: ReactNode;
}) {
  return (
    <DropdownMenu.Item
      onSelect={refusal === undefined ? onSelect : (event) => event.preventDefault()}
      title={refusal}
      aria-disabled={refusal !== undefined || undefined}
      aria-description={refusal}
      className={clsx(
        itemLook,
        "aria-disabled:cursor-not-allowed aria-disabled:opacity-60 [&_svg]:size-4",
        isDangerous ? "text-fail" : "text-ink",
      )}
    >
      {icon}
      {children}
    </DropdownMenu.Item>
  );
}

/** The menu stays open, so that several can be switched. */
export function MenuCheck({
  isOn,
  onChange,
  children,
}: {
  isOn: boolean;
  onChange(isOn: boolean): void;
  children: ReactNode;
}) {
  return (
    <DropdownMenu.CheckboxItem
      checked={isOn}
      onCheckedChange={onChange}
      onSelect={(event) => event.preventDefault()}
      className={clsx(itemLook, "text-ink")}
    >
      <span className="size-4">
        <DropdownMenu.ItemIndicator>
          <Check className="size-4 text-accent-ink" aria-hidden />
        </DropdownMenu.ItemIndicator>
      </span>
      {children}
    </DropdownMenu.CheckboxItem>
  );
}

export function MenuDownload({
  href,
  icon,
  children,
}: {
  href: string;
  icon?: ReactNode;
  children: ReactNode;
}) {
  return (
    <DropdownMenu.Item asChild>
      <a href={href} download className={clsx(itemLook, "text-ink [&_svg]:size-4")}>
        {icon}
        {children}
      </a>
    </DropdownMenu.Item>
  );
}

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
