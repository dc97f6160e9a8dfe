import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Cell, HeaderCell, RowHeader, Table } from "../../../ui/table.tsx";

interface SectionProps {
  title: string;
  hint?: ReactNode;
  /** To the right of the title. */
  actions?: ReactNode;
  className?: string;
  children?: ReactNode;
}

/** A section that answers one question. */
export function Section({ title, hint, actions, className, children }: SectionProps) {
  return (
    <section aria-label={title} className={className}>
      <header className="flex flex-wrap items-start gap-2 px-4 pt-3 pb-1">
        <div className="min-w-0 flex-1 basis-40">
          <h3 className="text-sm font-semibold">{title}</h3>
          {hint !== undefined && <p className="text-xs wrap-anywhere text-ink-3">{hint}</p>}
        </div>
        {actions}
      </header>
      {children}
    </section>
  );
}

interface EpisodeLinkProps {
  id: string;
  /** The first step at which simulation and reality differ. */
  step?: number | null;
  children: ReactNode;
}

/** Links to the page that shows an episode in simulation and in reality. */
export function EpisodeLink({ id, step, children }: EpisodeLinkProps) {
  return (
    <Link
      to="/episodes/$episodeId"
      params={{ episodeId: id }}
      search={step == null ? {} : { step }}
      className="font-medium text-accent-ink hover:underline"
    >
      {children}
    </Link>
  );
}

const tight = "px-1.5! py-1! max-sm:px-1! first:pl-4! last:pr-4!";

interface SmallTableProps {
  label: string;
  head: readonly string[];
  /** The first cell names the row. */
  rows: readonly (readonly ReactNode[])[];
}

/** A table of numbers, narrow enough for a third of the page. */
export function SmallTable({ label, head, rows }: SmallTableProps) {
  return (
    <Table label={label} className="mb-2 text-xs">
      <thead>
        <tr>
          {head.map((name, index) => (
            <HeaderCell key={name} isNumber={index > 0} className={tight}>
              {name}
            </HeaderCell>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, ...cells], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows have no state
          <tr key={index} className="border-t border-line">
            <RowHeader className={`${tight} whitespace-nowrap`}>{name}</RowHeader>
            {cells.map((cell, at) => (
              <Cell key={head[at + 1]} isNumber className={`${tight} ${at === 0 ? "whitespace-nowrap" : ""}`}>
                {cell}
              </Cell>
            ))}
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
