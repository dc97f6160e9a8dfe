import type { WorldModelRequest } from "@presage/sdk";
import { CircleCheck, LoaderCircle, MessageSquareText } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { clockTime } from "../../format/times.ts";
import type { Draft } from "../../parts/playground-draft.ts";
import { Button } from "../../ui/button.tsx";
import { TextDifference } from "../../ui/difference/text-difference.tsx";
import { SelectField } from "../../ui/form/fields.tsx";
import { EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { cutBefore } from "../../ui/untrusted-text/text-ranges.ts";
import { ResponseOrigin, ResponseView } from "./response-view.tsx";
import type { ModelResponse } from "./use-predictions.ts";

interface ResponseTabProps {
  /** Newest first. */
  responses: readonly ModelResponse[];
  isPending: boolean;
  startedAtMs: number;
  error: Error | null;
  wasCancelled: boolean;
  /** The current input. */
  draft: Draft;
  onRetry(): void;
  onCancel(): void;
  /** Rendered below the response. */
  children(response: ModelResponse): ReactNode;
}

export function ResponseTab(props: ResponseTabProps) {
  const { responses, isPending, startedAtMs, error, wasCancelled, draft, onRetry, onCancel, children } =
    props;
  const [chosen, setChosen] = useState<{ number: number; among: number }>();
  const [otherNumber, setOtherNumber] = useState<number>();
  const newest = responses[0];
  // The user's choice applies until there is a newer response.
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
          <GoldAnswer response={shown} draft={draft} />
          {children(shown)}
          <ResponseOrigin response={shown} />
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

interface ResponsePickerProps {
  responses: readonly ModelResponse[];
  shown: ModelResponse;
  other: ModelResponse | undefined;
  onShow(number: number): void;
  onCompare(number: number | undefined): void;
}

function ResponsePicker({ responses, shown, other, onShow, onCompare }: ResponsePickerProps) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <SelectField
        label="Show"
        value={String(shown.number)}
        options={responses.map(toOption)}
        onChange={(number) => onShow(Number(number))}
      />
      <SelectField
        label="Compare with"
        value={String(other?.number ?? "")}
        options={[
          { value: "", label: "None" },
          ...responses.filter(({ number }) => number !== shown.number).map(toOption),
        ]}
        onChange={(number) => onCompare(number === "" ? undefined : Number(number))}
      />
    </div>
  );
}

function toOption({ number, at, request }: ModelResponse): { value: string; label: string } {
  const { action } = request.interaction;
  const short = action.length > 32 ? `${action.slice(0, cutBefore(action, 31))}…` : action;
  const label = `${number}, ${clockTime(at)}: ${short.replaceAll(/\s+/g, " ")}`;
  return { value: String(number), label };
}

/** Compares two responses and their inputs. */
function Comparison({ response, other }: { response: ModelResponse; other: ModelResponse }) {
  const changed = useMemo(() => changedInputs(response.request, other.request), [response, other]);
  const contents = [other, response].map(({ prediction }) => prediction.response.content);
  const [before = "", after = ""] = contents;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <p className="text-sm text-ink-2">
        {changed.length === 0 ? (
          "Both have the same input."
        ) : (
          <>
            The inputs differ in <strong className="font-medium text-ink">{changed.join(", ")}</strong>.
          </>
        )}{" "}
        {before === after && "The responses are the same."}
      </p>
      {before !== after && (
        <TextDifference
          before={before}
          after={after}
          beforeLabel={`Response ${other.number}`}
          afterLabel={`Response ${response.number}`}
        />
      )}
      <div className="grid gap-4 2xl:grid-cols-2">
        {[response, other].map((one) => (
          <div key={one.number} className="flex min-w-0 flex-col gap-2">
            <h3 className="text-sm font-semibold">Response {one.number}</h3>
            <ResponseView response={one} />
          </div>
        ))}
      </div>
    </div>
  );
}

/** Compares the model's answer with the gold answer; absent if the input has changed since the request. */
function GoldAnswer({ response, draft }: { response: ModelResponse; draft: Draft }) {
  const { goldAnswer, state, action } = draft;
  const { interaction } = response.request;
  if (goldAnswer === "" || interaction.state !== state || interaction.action !== action) return null;
  const { content } = response.prediction.response;
  if (content === goldAnswer)
    return (
      <p className="flex items-center gap-2 text-sm text-ink-2">
        <CircleCheck className="size-4 shrink-0 text-pass" aria-hidden />
        The same text as the gold answer.
      </p>
    );
  return (
    <section aria-label="Compared with the gold answer">
      <TextDifference
        before={goldAnswer}
        after={content}
        beforeLabel="Gold answer"
        afterLabel={`Response ${response.number}`}
        isPredicted
      />
    </section>
  );
}

/** The names of the inputs that differ. */
export function changedInputs(one: WorldModelRequest, other: WorldModelRequest): string[] {
  const flatOne = flatten(one);
  const flatOther = flatten(other);
  const names = new Set([...Object.keys(flatOne), ...Object.keys(flatOther)]);
  return [...names].filter((name) => JSON.stringify(flatOne[name]) !== JSON.stringify(flatOther[name]));
}

function flatten({ context, interaction, params, world }: WorldModelRequest): Record<string, unknown> {
  return { ...context, ...interaction, ...params, world };
}
