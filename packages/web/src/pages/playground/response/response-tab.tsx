import { LoaderCircle, MessageSquareText } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import type { ModelResponse } from "../use-predictions.ts";
import { Comparison } from "./comparison.tsx";
import { ResponsePicker } from "./response-picker.tsx";
import { ResponseView } from "./response-view.tsx";

interface ResponseTabProps {
  /** Newest first. */
  responses: readonly ModelResponse[];
  isPending: boolean;
  startedAtMs: number;
  error: Error | null;
  wasCancelled: boolean;
  onRetry(): void;
  onCancel(): void;
  /** Rendered below the response. */
  children(response: ModelResponse): ReactNode;
}

export function ResponseTab(props: ResponseTabProps) {
  const { responses, isPending, startedAtMs, error, wasCancelled, onRetry, onCancel, children } = props;
  const [chosen, setChosen] = useState<{ number: number; among: number }>();
  const [otherNumber, setOtherNumber] = useState<number>();
  const newest = responses[0];
  // A choice is valid until there is a newer response.
  const isChoiceValid = chosen?.among === newest?.number;
  const shown = (isChoiceValid && responses.find(({ number }) => number === chosen?.number)) || newest;
  const other = responses.find(({ number }) => number === otherNumber && number !== shown?.number);

  return (
    <div className="flex flex-col gap-4 p-4">
      {isPending && <Waiting startedAtMs={startedAtMs} onCancel={onCancel} />}
      {!isPending && error !== null && <ErrorNotice error={error} onRetry={onRetry} />}
      {!isPending && wasCancelled && (
        <p role="status" className="rounded-md bg-sunken px-3 py-2 text-sm text-ink-2">
          Cancelled. Your input is still here.
        </p>
      )}
      {shown === undefined && !isPending && error === null && !wasCancelled && (
        <EmptyState icon={MessageSquareText} title="No response yet">
          Fill in a state and an action, or start from an example, then press Predict.
        </EmptyState>
      )}
      {shown !== undefined && (
        <>
          {(isPending || error !== null || wasCancelled) && (
            <p className="border-t border-line pt-3 text-xs text-ink-3">Previous response:</p>
          )}
          {responses.length > 1 && newest !== undefined && (
            <ResponsePicker
              responses={responses}
              shown={shown}
              other={other}
              onShow={(number) => setChosen({ number, among: newest.number })}
              onCompare={setOtherNumber}
            />
          )}
          {other === undefined ? (
            <ResponseView response={shown} />
          ) : (
            <Comparison response={shown} other={other} />
          )}
          {children(shown)}
        </>
      )}
    </div>
  );
}

const tickMs = 100;

function Waiting({ startedAtMs, onCancel }: { startedAtMs: number; onCancel(): void }) {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, nowMs - startedAtMs) / 1000;
  return (
    <div className="flex items-center gap-2 rounded-md border border-line bg-sunken px-3 py-2 text-sm text-ink-2">
      <LoaderCircle className="size-4 animate-spin" aria-hidden />
      <span role="status">Waiting for the model</span>
      <span aria-hidden className="flex-1 tabular-nums">
        {seconds.toFixed(1)} s
      </span>
      <Button size="small" onClick={onCancel}>
        Cancel
      </Button>
    </div>
  );
}
