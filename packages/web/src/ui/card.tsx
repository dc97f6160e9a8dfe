import { clsx } from "clsx";
import type { ReactNode } from "react";

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
    <section className={clsx("min-w-0 rounded-lg border border-line bg-surface", className)}>
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
