// Replacements for content that failed to load, or that does not exist yet.

import { PresageError } from "@presage/sdk";
import { CircleAlert, type LucideIcon } from "lucide-react";
import type { ComponentProps, MouseEvent, ReactNode } from "react";
import { explainError, plainMessage } from "../format/errors.ts";
import { Button, CopyButton } from "./button.tsx";
import { SkeletonRows } from "./skeleton.tsx";

/** What went wrong, what to do about it, and the request ID to find in the log. */
export function ErrorNotice({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { title, advice } = explainError(error);
  const details = error instanceof PresageError ? error : undefined;
  return (
    <div
      role="alert"
      className="flex flex-wrap gap-3 rounded-lg border border-fail/30 bg-fail-soft px-4 py-3 text-sm sm:flex-nowrap"
    >
      <CircleAlert className="mt-0.5 size-4 shrink-0 text-fail" aria-hidden />
      <div className="flex min-w-0 flex-1 flex-col gap-1 max-sm:basis-[calc(100%-2rem)]">
        <p className="font-medium text-fail">{title}</p>
        <p className="text-ink-2">{advice}</p>
        {details !== undefined && details.issues.length > 0 && (
          <ul className="list-disc pl-4 text-ink-2">
            {details.issues.map(({ loc, msg }) => (
              <li key={`${loc.join(".")} ${msg}`}>
                <code className="font-mono text-xs">{loc.slice(1).join(".")}</code> {plainMessage(msg)}
              </li>
            ))}
          </ul>
        )}
        {details?.upstreamBody !== undefined && (
          <details className="text-ink-2">
            <summary className="cursor-pointer text-xs">
              The model’s response
              {details.upstreamStatus === undefined ? "" : ` (status ${details.upstreamStatus})`}
            </summary>
            <pre className="mt-1 max-h-48 overflow-auto rounded bg-surface p-2 font-mono text-xs whitespace-pre-wrap">
              {details.upstreamBody}
            </pre>
          </details>
        )}
        {details?.requestId !== undefined && (
          <p className="flex items-center gap-1 text-xs text-ink-3">
            Request <code className="truncate font-mono">{details.requestId}</code>
            <CopyButton text={details.requestId} label="Copy request ID" />
          </p>
        )}
      </div>
      {onRetry !== undefined && (
        <Button
          size="small"
          className="max-sm:ml-7"
          onClick={(event) => {
            keepFocusNear(event);
            onRetry();
          }}
        >
          Try again
        </Button>
      )}
    </div>
  );
}

interface AwaitedProps extends ComponentProps<typeof SkeletonRows> {
  error: unknown;
  onRetry(): void;
}

/** Replaces a card's content: rows while it loads, or the reason why it could not be loaded. */
export function Awaited({ error, onRetry, ...rows }: AwaitedProps) {
  if (error === null) return <SkeletonRows {...rows} />;
  return (
    <div className="p-4">
      <ErrorNotice error={error} onRetry={onRetry} />
    </div>
  );
}

/** The pressed button disappears with the notice, so the focus moves to the surrounding region. */
function keepFocusNear({ currentTarget }: MouseEvent): void {
  currentTarget.closest<HTMLElement>("[role=tabpanel], [role=dialog], main")?.focus({ preventScroll: true });
}

interface EmptyStateProps {
  icon: LucideIcon;
  title: string;
  /** What to do next. */
  children?: ReactNode;
  actions?: ReactNode;
}

export function EmptyState({ icon: Icon, title, children, actions }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-12 text-center">
      <span className="mb-1 rounded-full border border-line bg-sunken p-3 text-ink-3">
        <Icon className="size-5" aria-hidden />
      </span>
      <h3 className="text-sm font-semibold">{title}</h3>
      {children !== undefined && <div className="max-w-prose text-sm text-pretty text-ink-2">{children}</div>}
      {actions !== undefined && <div className="mt-2 flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  );
}
