import { useEffect, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { ActionLine } from "./turn.tsx";

interface PendingTurnProps {
  action: string;
  /** Why the world did not answer. */
  error: Error | null;
  onRetry(): void;
  onEdit(): void;
}

/** An action that the world has not answered. A failure is no observation: the action can be sent again. */
export function PendingTurn({ action, error, onRetry, onEdit }: PendingTurnProps) {
  return (
    <li className="flex flex-col gap-1.5">
      <ActionLine action={action} />
      {error === null ? (
        <Waiting />
      ) : (
        <>
          <ErrorNotice error={error} onRetry={onRetry} />
          <p className="flex flex-wrap items-center gap-2 text-xs text-ink-3">
            The episode stands where it was.
            <Button size="small" variant="quiet" onClick={onEdit}>
              Try another action
            </Button>
          </p>
        </>
      )}
    </li>
  );
}

const tickMs = 1_000;

function Waiting() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const ticking = setInterval(() => setSeconds((before) => before + 1), tickMs);
    return () => clearInterval(ticking);
  }, []);
  return (
    <p className="flex items-center gap-2 rounded-md bg-sunken px-3 py-2 text-sm leading-6 text-ink-3">
      <span className="inline-flex gap-1" aria-hidden>
        {["", "[animation-delay:150ms]", "[animation-delay:300ms]"].map((delay) => (
          <span key={delay} className={`size-1.5 animate-pulse rounded-full bg-ink-3 ${delay}`} />
        ))}
      </span>
      <span className="sr-only">The world answers</span>
      {seconds > 1 && <span className="tabular-nums">{seconds} s</span>}
    </p>
  );
}
