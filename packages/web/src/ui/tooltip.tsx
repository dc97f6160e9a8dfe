import { clsx } from "clsx";
import { Tooltip as Radix } from "radix-ui";
import { createContext, type ReactNode, use } from "react";

/** Of the controls in a table, which is one stop for Tab: arrow keys reach them. */
export const ControlTabIndex = createContext<-1 | undefined>(undefined);

/** Shown while the child is hovered or focused. */
export function Tooltip({ text, children }: { text: ReactNode; children: ReactNode }) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          sideOffset={6}
          collisionPadding={8}
          className="z-50 max-w-80 rounded-md bg-ink px-2 py-1 text-xs text-canvas shadow-float"
        >
          {text}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface ExplainedProps {
  /** What a figure is, and of what. Absent: nothing is added. */
  text: ReactNode;
  className?: string;
  children: ReactNode;
}

/** A figure that says what it is where it is pointed at or focused. */
export function Explained({ text, className, children }: ExplainedProps) {
  const tabIndex = use(ControlTabIndex) ?? 0;
  if (text === undefined) return <span className={className}>{children}</span>;
  return (
    <Tooltip text={text}>
      <span tabIndex={tabIndex} className={clsx("cursor-help rounded-sm", className)}>
        {children}
      </span>
    </Tooltip>
  );
}

/** A name that says what it means where it is pointed at or focused. */
export function ExplainedName({ name, explanation }: { name: string; explanation: string | undefined }) {
  const tabIndex = use(ControlTabIndex);
  if (explanation === undefined) return name;
  return (
    <Tooltip text={explanation}>
      <button
        type="button"
        tabIndex={tabIndex}
        className="cursor-help font-medium underline decoration-dotted underline-offset-3"
      >
        {name}
      </button>
    </Tooltip>
  );
}
