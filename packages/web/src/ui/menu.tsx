// Menus and popovers, which open next to the pressed button.

import { clsx } from "clsx";
import { Check } from "lucide-react";
import {
  cloneElement,
  type FocusEvent,
  type HTMLAttributes,
  type ReactElement,
  type ReactNode,
  useState,
} from "react";
import { focusWhole } from "./dialog.tsx";
import { floatingParts, useFloating } from "./load.ts";

type Trigger = ReactElement<HTMLAttributes<HTMLElement>>;
type Opened = "by key" | "by pointer" | undefined;

/** The trigger of something that is loaded when it is first opened. */
function closedTrigger(trigger: Trigger, kind: "menu" | "dialog", open: (opened: Opened) => void) {
  return cloneElement(trigger, {
    "aria-haspopup": kind,
    "aria-expanded": false,
    // A click by key has a click count of 0.
    onClick: ({ detail }) => open(detail === 0 ? "by key" : "by pointer"),
    onKeyDown(event) {
      if (kind !== "menu" || event.key !== "ArrowDown") return;
      event.preventDefault();
      open("by key");
    },
  });
}

/** The trigger must be one element that takes a ref. */
export function Menu({ trigger, children }: { trigger: Trigger; children: ReactNode }) {
  const [opened, setOpened] = useState<Opened>();
  const floating = useFloating(opened !== undefined);
  if (opened === undefined || floating === undefined) return closedTrigger(trigger, "menu", setOpened);
  const { Root, Trigger, Portal, Content } = floating.DropdownMenu;
  // After the first opening, the menu itself knows how it was opened.
  function focusFirst({ target, currentTarget }: FocusEvent<HTMLElement>): void {
    if (opened === "by pointer" || target !== currentTarget) return;
    setOpened("by pointer");
    currentTarget.querySelector<HTMLElement>("[role^=menuitem]")?.focus();
  }
  return (
    <Root modal={false} defaultOpen>
      <Trigger asChild>{trigger}</Trigger>
      <Portal>
        <Content
          align="end"
          sideOffset={6}
          collisionPadding={8}
          onFocus={focusFirst}
          className="z-50 max-w-[calc(100vw-1rem)] min-w-44 rounded-lg border border-line bg-surface p-1 shadow-float"
        >
          {children}
        </Content>
      </Portal>
    </Root>
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
  /** Why the item does nothing. It can still be reached, so that the reason is read. */
  refusal?: string | undefined;
  onSelect(): void;
  children: ReactNode;
}) {
  const { Item } = floatingParts().DropdownMenu;
  return (
    <Item
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
    </Item>
  );
}

/** The menu stays open, so that several items can be switched. */
export function MenuCheck({
  isOn,
  onChange,
  children,
}: {
  isOn: boolean;
  onChange(isOn: boolean): void;
  children: ReactNode;
}) {
  const { CheckboxItem, ItemIndicator } = floatingParts().DropdownMenu;
  return (
    <CheckboxItem
      checked={isOn}
      onCheckedChange={onChange}
      onSelect={(event) => event.preventDefault()}
      className={clsx(itemLook, "text-ink")}
    >
      <span className="size-4">
        <ItemIndicator>
          <Check className="size-4 text-accent-ink" aria-hidden />
        </ItemIndicator>
      </span>
      {children}
    </CheckboxItem>
  );
}

export function MenuDownload({
  href,
  fileName = "",
  icon,
  children,
}: {
  href: string;
  /** Absent: the server names the file. */
  fileName?: string;
  icon?: ReactNode;
  children: ReactNode;
}) {
  const { Item } = floatingParts().DropdownMenu;
  return (
    <Item asChild>
      <a href={href} download={fileName} className={clsx(itemLook, "text-ink [&_svg]:size-4")}>
        {icon}
        {children}
      </a>
    </Item>
  );
}

/** A heading in a menu, with the choices below it. */
export function MenuSection({ title, children }: { title: string; children: ReactNode }) {
  const { Separator, Label } = floatingParts().DropdownMenu;
  return (
    <>
      <Separator className="my-1 border-t border-line" />
      <Label className="px-2 py-1 text-xs text-ink-3">{title}</Label>
      {children}
    </>
  );
}

interface PopoverProps {
  /** One element that takes a ref. */
  trigger: Trigger;
  /** For screen readers. */
  label: string;
  /** Whether there is nothing to fill in. */
  isReadOnly?: boolean;
  children: ReactNode;
}

export function Popover({ trigger, label, isReadOnly = false, children }: PopoverProps) {
  const [opened, setOpened] = useState<Opened>();
  const floating = useFloating(opened !== undefined);
  if (opened === undefined || floating === undefined) return closedTrigger(trigger, "dialog", setOpened);
  const { Root, Trigger, Portal, Content } = floating.Popover;
  return (
    <Root defaultOpen>
      <Trigger asChild>{trigger}</Trigger>
      <Portal>
        <Content
          aria-label={label}
          align="start"
          sideOffset={6}
          collisionPadding={8}
          {...(isReadOnly && { onOpenAutoFocus: focusWhole })}
          className="z-40 max-h-(--radix-popover-content-available-height) w-96 max-w-[calc(100vw-1rem)] overflow-y-auto rounded-lg border border-line bg-surface p-4 shadow-float outline-none"
        >
          {children}
        </Content>
      </Portal>
    </Root>
  );
}
