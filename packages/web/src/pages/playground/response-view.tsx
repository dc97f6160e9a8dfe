import { useQuery } from "@tanstack/react-query";
import { Suspense } from "react";
import { meQuery } from "../../data/accounts.ts";
import { usePresage } from "../../data/client.ts";
import { requestCostQuery } from "../../data/predictions.ts";
import { referenceOf } from "../../data/worlds.ts";
import { formatCost, formatCount, formatDuration } from "../../format/numbers.ts";
import { CopyButton } from "../../ui/button.tsx";
import { Fact } from "../../ui/card.tsx";
import { lazyPart } from "../../ui/load.ts";
import { Time } from "../../ui/time.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { PlainText } from "../../ui/untrusted-text/plain-text.tsx";
import type { ModelResponse } from "./use-predictions.ts";

const LeanedOn = lazyPart(async () => (await import("../../parts/leaned-on.tsx")).LeanedOn);

/** Finish reasons of incomplete responses. */
const shortfalls: Record<string, string> = {
  length: "The response was cut off at max_tokens.",
  content_filter: "The model’s content filter removed part of the response.",
};

export function ResponseView({ response }: { response: ModelResponse }) {
  const { response: message, reasoning, finish_reason } = response.prediction;
  const shortfall = shortfalls[finish_reason ?? ""];
  return (
    <section aria-label={`Response ${response.number}`} className="flex min-w-0 flex-col gap-3">
      <PlainText text={message.content} label="Response" />
      {shortfall !== undefined && <p className="text-sm text-warn">{shortfall}</p>}
      {reasoning && (
        <details className="rounded-md border border-line">
          <summary className="cursor-pointer px-3 py-2 text-sm font-medium text-ink-2 hover:text-ink">
            Reasoning
          </summary>
          <div className="px-3 pb-3">
            <PlainText text={reasoning} label="Reasoning" />
          </div>
        </details>
      )}
      <ResponseFacts response={response} />
      {response.prediction.world && (
        <Suspense>
          <LeanedOn prediction={response.prediction} preview={response.preview} />
        </Suspense>
      )}
    </section>
  );
}

/** Absent if live traffic is not stored, since only stored predictions have a cost. */
function CostFact({ requestId }: { requestId: string }) {
  const presage = usePresage();
  const isStored = useQuery(meQuery(presage)).data?.capture.setting === "all";
  const { data } = useQuery({ ...requestCostQuery(presage, requestId), enabled: isStored });
  if (!isStored || !data?.isStored) return null;
  return (
    <Fact look="stacked" name="Cost">
      {data.cost === null ? "no price" : formatCost(data.cost, data.currency ?? "")}
    </Fact>
  );
}

function ResponseFacts({ response: { at, prediction, timing, requestId } }: { response: ModelResponse }) {
  const { finish_reason, matched_stop, usage } = prediction;
  return (
    <dl className="grid grid-cols-[repeat(auto-fill,minmax(5.5rem,1fr))] gap-x-4 gap-y-3 text-sm">
      <Fact look="stacked" name="Ended by">
        <InlineText
          text={[finish_reason ?? "not stated", matched_stop !== null && JSON.stringify(matched_stop)]
            .filter((part) => part !== false)
            .join(", ")}
        />
      </Fact>
      <Fact look="stacked" name="Tokens, in + out">
        {formatCount(usage.prompt_tokens)} + {formatCount(usage.completion_tokens)}
      </Fact>
      {timing !== undefined && (
        <Fact look="stacked" name="Time">
          <span
            title={
              timing.upstreamMs === undefined
                ? undefined
                : `${formatDuration(timing.upstreamMs)} by the ${prediction.world?.answered_by === "retrieval" ? "records" : "model"}, ${formatDuration(Math.max(0, timing.totalMs - timing.upstreamMs))} by Presage`
            }
          >
            {formatDuration(timing.totalMs)}
          </span>
        </Fact>
      )}
      <Fact look="stacked" name="Received">
        <Time at={at} />
      </Fact>
      {requestId !== undefined && <CostFact requestId={requestId} />}
    </dl>
  );
}

/** Who answered, and by which id the server’s log has it. */
export function ResponseOrigin({
  response: { prediction, requestId, deployment },
}: {
  response: ModelResponse;
}) {
  return (
    <dl className="flex flex-col gap-1 border-t border-line pt-3">
      {deployment !== undefined && (
        <div className="flex min-w-0 gap-2 text-xs text-ink-3">
          <dt>Answered by</dt>
          <dd className="min-w-0 wrap-anywhere text-ink-2">
            {prediction.world === undefined
              ? deployment
              : `${prediction.world.answered_by}, through ${referenceOf(prediction.world)}`}
          </dd>
        </div>
      )}
      {requestId !== undefined && (
        <div className="flex min-w-0 items-center gap-2 text-xs text-ink-3">
          <dt>Request</dt>
          <dd className="flex min-w-0 items-center gap-1">
            <code className="truncate font-mono">{requestId}</code>
            <CopyButton text={requestId} label="Copy request ID" />
          </dd>
        </div>
      )}
    </dl>
  );
}
