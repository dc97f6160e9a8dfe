import { clsx } from "clsx";
import type { AlertDialog, Dialog } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";

interface ModalProps extends ComponentProps<typeof Dialog.Content> {
  /** An alert dialog closes only by its own buttons and Escape. */
  kind: typeof Dialog | typeof AlertDialog;
  isOpen: boolean;
  onOpenChange?(isOpen: boolean): void;
  /** What opens it, if that is always on the page. */
  trigger?: ReactNode;
  placement?: "center" | "left" | "top";
}

const placements = {
  center:
    "top-1/2 left-1/2 w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 rounded-xl border border-line",
  // What grows and shrinks stays where it begins.
  top: "top-[12dvh] left-1/2 w-[calc(100vw-2rem)] -translate-x-1/2 rounded-xl border border-line",
  left: "inset-y-0 left-0 w-64 border-r border-line",
};

/** A panel above the dimmed page, which cannot be used until the panel is closed. */
export function Modal({
  kind: { Root, Portal, Overlay, Content },
  isOpen,
  onOpenChange,
  trigger,
  placement = "center",
  className,
  ...content
}: ModalProps) {
  return (
    <Root open={isOpen} {...(onOpenChange && { onOpenChange })}>
      {trigger}
      <Portal>
        <Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Content
          {...content}
          data-modal=""
          className={clsx("fixed z-40 bg-surface shadow-float", placements[placement], className)}
        />
      </Portal>
    </Root>
  );
}
