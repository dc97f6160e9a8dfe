import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

interface SectionProps {
  title: string;
  hint?: ReactNode;
  className?: string;
  children?: ReactNode;
}

/** One of the answers. */
export function Section({ title, hint, className, children }: SectionProps) {
  return (
    <section aria-label={title} className={className}>
      <header className="px-4 pt-3 pb-1">
        <h3 className="text-sm font-semibold">{title}</h3>
        {hint !== undefined && <p className="text-xs wrap-anywhere text-ink-3">{hint}</p>}
      </header>
      {children}
    </section>
  );
}

interface EpisodeLinkProps {
  id: string;
  /** Where it differs first. */
  step?: number | null;
  children: ReactNode;
}

/** To where the two worlds stand beside each other. */
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
