// Panels above the page or next to it, which take the focus until they are closed.

import { useLocation } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChevronDown, ChevronUp, X } from "lucide-react";
import type { Dialog as Radix } from "radix-ui";
import { type ComponentProps, type ReactNode, Suspense, useRef } from "react";
import { Button, CopyButton, IconButton } from "./button.tsx";
import { useFloating } from "./load.ts";
import { ErrorNotice } from "./notice.tsx";

interface DialogProps {
  isOpen: boolean;
  onClose(): void;
  title: string;
  hint?: ReactNode;
  /** For large forms and long texts. */
  isWide?: boolean;
  /** A click outside must not lose the input. */
  hasForm?: boolean;
  children: ReactNode;
}

export function Dialog({
  isOpen,
  onClose,
  title,
  hint,
  isWide = false,
  hasForm = false,
  children,
}: DialogProps) {
  const floating = useFloating(isOpen);
  if (floating === undefined) return null;
  const { Title, Description, Close } = floating.Dialog;
  return (
    <Modal
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      onOpenAutoFocus={focusFirstField}
      onInteractOutside={(event) => hasForm && event.preventDefault()}
      {...(hint === undefined ? { "aria-describedby": undefined } : {})}
      className={clsx(
        "flex max-h-[calc(100dvh-2rem)] flex-col outline-none",
        isWide ? "max-w-3xl" : "max-w-md",
      )}
    >
      <header className="flex items-start gap-3 px-5 pt-4 pb-3">
        <div className="min-w-0 flex-1">
          <Title className="text-base font-semibold wrap-anywhere">{title}</Title>
          {hint !== undefined && (
            <Description className="mt-0.5 text-sm wrap-anywhere text-ink-2">{hint}</Description>
          )}
        </div>
        <Close asChild>
          <IconButton label="Close" icon={<X aria-hidden />} className="-mr-1.5" />
        </Close>
      </header>
      <div className="min-h-0 overflow-y-auto px-5 pb-5">{children}</div>
    </Modal>
  );
}

/** Focuses a form's first field, else the whole dialog: the close button would show its tooltip, which takes the first Escape. */
function focusFirstField(event: Event): void {
  const { currentTarget: content } = event;
  if (!(content instanceof HTMLElement)) return;
  event.preventDefault();
  (content.querySelector<HTMLElement>("input, textarea, select") ?? content).focus();
}

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
  /** What is confirmed: the dialog is busy meanwhile, and shows why it failed until it is closed. */
  change?: { isPending: boolean; error: unknown; reset(): void };
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
  change,
  onConfirm,
  cancelLabel = onConfirm === undefined ? "Close" : "Cancel",
}: ConfirmDialogProps) {
  const floating = useFloating(isOpen);
  if (floating === undefined) return null;
  const { AlertDialog } = floating;
  function close(): void {
    change?.reset();
    onClose();
  }
  return (
    <Modal isAlert isOpen={isOpen} onOpenChange={(open) => !open && close()} className="max-w-md p-5">
      <AlertDialog.Title className="text-base font-semibold wrap-anywhere">{title}</AlertDialog.Title>
      <AlertDialog.Description asChild>
        <div className="mt-1.5 text-sm wrap-anywhere text-ink-2">
          {children}
          {change?.error != null && (
            <div className="mt-3">
              <ErrorNotice error={change.error} />
            </div>
          )}
        </div>
      </AlertDialog.Description>
      <div className="mt-5 flex flex-wrap justify-end gap-2">
        <AlertDialog.Cancel asChild>
          <Button>{cancelLabel}</Button>
        </AlertDialog.Cancel>
        {onConfirm !== undefined && (
          <Button
            variant="danger"
            className="max-w-full"
            isBusy={isBusy || change?.isPending === true}
            onClick={onConfirm}
          >
            {confirmLabel}
          </Button>
        )}
      </div>
    </Modal>
  );
}

interface ModalProps extends ComponentProps<typeof Radix.Content> {
  /** Closes only with its own buttons and Escape. */
  isAlert?: boolean;
  isOpen: boolean;
  onOpenChange?(isOpen: boolean): void;
  /** For screen readers, where the content shows no title. */
  name?: string;
  placement?: "center" | "left" | "top";
}

const placements = {
  center:
    "top-1/2 left-1/2 w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 rounded-xl border border-line",
  // If the content grows or shrinks, the top edge stays in place.
  top: "top-[12dvh] left-1/2 w-[calc(100vw-2rem)] -translate-x-1/2 rounded-xl border border-line",
  left: "inset-y-0 left-0 w-64 border-r border-line",
};

/** A panel above the dimmed page, which cannot be used until the panel is closed. The focus then returns to what opened it. */
export function Modal({
  isAlert = false,
  isOpen,
  onOpenChange,
  name,
  placement = "center",
  className,
  onOpenAutoFocus,
  children,
  ...content
}: ModalProps) {
  const opener = useRef<Element>(null);
  const floating = useFloating(isOpen);
  if (floating === undefined) return null;
  const { Root, Portal, Overlay, Content, Title } = isAlert ? floating.AlertDialog : floating.Dialog;
  return (
    <Root open={isOpen} {...(onOpenChange && { onOpenChange })}>
      <Portal>
        <Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Content
          onOpenAutoFocus={(event) => {
            opener.current = document.activeElement;
            onOpenAutoFocus?.(event);
          }}
          onCloseAutoFocus={(event) => returnFocus(event, opener.current)}
          {...content}
          data-modal=""
          className={clsx("fixed z-40 bg-surface shadow-float", placements[placement], className)}
        >
          {name !== undefined && <Title className="sr-only">{name}</Title>}
          {children}
        </Content>
      </Portal>
    </Root>
  );
}

/** Focuses the element that had the focus, or the page if that element is gone. */
function returnFocus(event: Event, opener: Element | null): void {
  event.preventDefault();
  const target = opener?.isConnected ? opener : document.getElementById("main");
  if (target instanceof HTMLElement) target.focus();
}

interface DrawerProps {
  isOpen: boolean;
  onClose(): void;
  /** Only for screen readers: the content shows its own title. */
  title: string;
  /** For texts side by side. */
  isWide?: boolean;
  /** Absent: the focus returns to the previous element. */
  onCloseAutoFocus?(event: Event): void;
  children: ReactNode;
}

/** A panel on the right. The page stays usable, so that the user can step through rows. */
export function Drawer({ isOpen, onClose, title, isWide = false, onCloseAutoFocus, children }: DrawerProps) {
  const floating = useFloating(isOpen);
  if (floating === undefined) return null;
  const { Root, Portal, Content, Title } = floating.Dialog;
  return (
    <Root open={isOpen} onOpenChange={(open) => !open && onClose()} modal={false}>
      <Portal>
        <Content
          aria-describedby={undefined}
          onOpenAutoFocus={focusWhole}
          {...(onCloseAutoFocus && { onCloseAutoFocus })}
          onInteractOutside={(event) => event.preventDefault()}
          className={clsx(
            "fixed inset-y-0 right-0 z-30 flex w-full flex-col border-l border-line bg-surface shadow-float outline-none",
            isWide ? "max-w-[min(100vw,78rem)]" : "max-w-[min(100vw,52rem)]",
          )}
        >
          <Title className="sr-only">{title}</Title>
          <Suspense>{children}</Suspense>
        </Content>
      </Portal>
    </Root>
  );
}

interface DrawerHeaderProps<Place> {
  /** The name of what is open. */
  children: ReactNode;
  /** The neighbours in the list. */
  previous: Place | undefined;
  next: Place | undefined;
  onOpen(place: Place): void;
  onClose(): void;
}

/** The name of a drawer's content, and navigation to its neighbours in the list. */
export function DrawerHeader<Place>({ children, previous, next, onOpen, onClose }: DrawerHeaderProps<Place>) {
  // The address of the open item in this list, including the filters.
  const { href } = useLocation();
  return (
    <div className="flex h-12 shrink-0 items-center gap-1 border-b border-line px-3 sm:px-4">
      <h2 className="min-w-0 flex-1 truncate text-sm font-semibold">{children}</h2>
      <IconButton
        label="Previous (K)"
        icon={<ChevronUp aria-hidden />}
        disabled={previous === undefined}
        onClick={() => previous !== undefined && onOpen(previous)}
      />
      <IconButton
        label="Next (J)"
        icon={<ChevronDown aria-hidden />}
        disabled={next === undefined}
        onClick={() => next !== undefined && onOpen(next)}
      />
      <CopyButton text={location.origin + href} label="Copy link" />
      <IconButton label="Close (Esc)" icon={<X aria-hidden />} onClick={onClose} />
    </div>
  );
}

/** For content to read: focusing its first element would show that element's explanation. */
export function focusWhole(event: Event): void {
  event.preventDefault();
  if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
}
