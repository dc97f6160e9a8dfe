import { clsx } from "clsx";
import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ExplainedName } from "./tooltip.tsx";

interface CardProps {
  title?: ReactNode;
  /** Below the title. */
  hint?: ReactNode;
  /** To the right of the title. */
  actions?: ReactNode;
  className?: string;
  children: ReactNode;
}

export function Card({ title, hint, actions, className, children }: CardProps) {
  return (
    <section className={clsx("min-w-0 overflow-clip rounded-lg border border-line bg-surface", className)}>
      {(title !== undefined || actions !== undefined) && (
        <header className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2">
          <div className="min-w-0 flex-1 basis-36">
            <h2 className="text-sm font-semibold">{title}</h2>
            {hint !== undefined && <p className="text-xs text-ink-3">{hint}</p>}
          </div>
          {actions}
        </header>
      )}
      {children}
    </section>
  );
}

interface FoldProps {
  title: ReactNode;
  /** Next to the title. */
  note?: ReactNode;
  /** Whether the fold starts out open; a later `true` opens it. */
  isOpen?: boolean | undefined;
  /** Whether the content is drawn only once the fold is opened. */
  isDeferred?: boolean;
  children: ReactNode;
}

/** Content that is shown on demand. */
export function Fold({ title, note, isOpen, isDeferred = false, children }: FoldProps) {
  const [isDrawn, setDrawn] = useState(!isDeferred);
  return (
    <details
      className="group min-w-0 rounded-md border border-line"
      open={isOpen || undefined}
      onToggle={() => setDrawn(true)}
    >
      <summary className="flex cursor-pointer list-none flex-wrap items-center gap-x-1.5 rounded-md px-3 py-2 text-sm font-medium hover:bg-hover">
        <ChevronRight
          className="size-4 shrink-0 text-ink-3 transition-transform [details[open]>summary>&]:rotate-90"
          aria-hidden
        />
        {title}
        {note !== undefined && <span className="text-xs font-normal text-ink-3">{note}</span>}
      </summary>
      {isDrawn && <div className="flex flex-col gap-3 border-t border-line p-3">{children}</div>}
    </details>
  );
}

interface DisclosureProps {
  isOpen: boolean;
  onToggle(isOpen: boolean): void;
  title: ReactNode;
  className?: string;
  contentClass: string;
  children: ReactNode;
}

/** A fold without a frame that its owner can open and close too. */
export function Disclosure({ isOpen, onToggle, title, className, contentClass, children }: DisclosureProps) {
  return (
    <div className={className}>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => onToggle(!isOpen)}
        className="group flex min-h-9 w-full items-center gap-2 px-4 text-left -outline-offset-2 hover:bg-hover"
      >
        <ChevronRight
          aria-hidden
          className="size-3.5 shrink-0 text-ink-3 transition-transform group-aria-expanded:rotate-90"
        />
        {title}
      </button>
      {isOpen && <div className={contentClass}>{children}</div>}
    </div>
  );
}

const looks = {
  /** Side by side on wide screens, in the two columns of the list. */
  row: ["sm:col-span-2 sm:grid sm:grid-cols-subgrid", "text-ink-3", "wrap-anywhere"],
  /** Like `row`, with lines between the rows. */
  lined: [
    "col-span-2 grid grid-cols-subgrid items-baseline border-t border-line *:px-4 *:py-1.5 first:border-t-0",
    "max-w-40 text-ink-3",
    "flex items-center gap-2",
  ],
  stacked: ["min-w-0", "text-xs text-ink-3", "wrap-anywhere tabular-nums"],
  inline: ["flex gap-1", "shrink-0 text-ink-3", "text-ink-2"],
} as const;

interface FactProps {
  name: ReactNode;
  look: keyof typeof looks;
  children: ReactNode;
}

/** One name and its value in a description list. */
export function Fact({ name, look, children }: FactProps) {
  const [rowClass, nameClass, valueClass] = looks[look];
  return (
    <div className={rowClass}>
      <dt className={nameClass}>{name}</dt>
      <dd className={clsx("min-w-0", valueClass)}>{children}</dd>
    </div>
  );
}

type NamedFact = [name: string, explanation: string | undefined, value: ReactNode];

/** Facts in a line; those without a value are left out. */
export function InlineFacts({ facts }: { facts: readonly NamedFact[] }) {
  return (
    <dl className="flex min-w-0 flex-wrap gap-x-6 gap-y-1 text-sm tabular-nums">
      {facts.map(
        ([name, explanation, value]) =>
          value != null && (
            <Fact key={name} look="inline" name={<ExplainedName name={name} explanation={explanation} />}>
              <span className="wrap-anywhere">{value}</span>
            </Fact>
          ),
      )}
    </dl>
  );
}

export interface Tile {
  name: string;
  /** What the figure is, shown on hover and on focus. */
  explanation?: string | undefined;
  value: ReactNode;
  note?: ReactNode;
}

const tileColumns: Record<number, string> = {
  6: "sm:grid-cols-3 xl:grid-cols-6",
  4: "lg:grid-cols-4",
  8: "md:grid-cols-4",
};

/** Figures side by side, each with a note; in a card they are its first rows. */
export function Tiles({ tiles, isInCard = false }: { tiles: readonly Tile[]; isInCard?: boolean }) {
  const frame = isInCard ? "border-y" : "overflow-hidden rounded-lg border";
  return (
    <dl className={clsx("grid grid-cols-2 gap-px border-line bg-line", frame, tileColumns[tiles.length])}>
      {tiles.map(({ name, explanation, value, note }) => (
        <div key={name} className="min-w-0 bg-surface px-4 py-2.5">
          <dt className="text-xs text-ink-3">
            <ExplainedName name={name} explanation={explanation} />
          </dt>
          <dd className="flex min-h-7 items-center text-lg font-semibold tracking-tight tabular-nums">
            {value}
          </dd>
          <dd className="min-h-4 text-xs text-ink-3 tabular-nums">{note}</dd>
        </div>
      ))}
    </dl>
  );
}
