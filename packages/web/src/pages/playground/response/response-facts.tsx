import { formatCount, formatDuration } from "../../../format/format-number.ts";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Fact } from "../../../ui/fact.tsx";
import { Time } from "../../../ui/time.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import type { ModelResponse } from "../use-predictions.ts";

export function ResponseFacts({
  response: { at, prediction, timing, requestId, deployment },
}: {
  response: ModelResponse;
}) {
  const { finish_reason, matched_stop, usage } = prediction;
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-3 text-sm sm:grid-cols-4">
      <Fact look="stacked" name="Finish reason">
        <InlineText text={finish_reason ?? "not stated"} />
      </Fact>
      <Fact look="stacked" name="Matched stop">
        {matched_stop === null ? "–" : <InlineText text={JSON.stringify(matched_stop)} />}
      </Fact>
      <Fact look="stacked" name="Prompt tokens">
        {formatCount(usage.prompt_tokens)}
      </Fact>
      <Fact look="stacked" name="Completion tokens">
        {formatCount(usage.completion_tokens)}
      </Fact>
      {timing !== undefined && (
        <>
          <Fact look="stacked" name="Total time">
            {formatDuration(timing.totalMs)}
          </Fact>
          <Fact look="stacked" name="Model">
            {timing.upstreamMs === undefined ? "–" : formatDuration(timing.upstreamMs)}
          </Fact>
          <Fact look="stacked" name="Presage">
            {timing.upstreamMs === undefined
              ? "–"
              : formatDuration(Math.max(0, timing.totalMs - timing.upstreamMs))}
          </Fact>
        </>
      )}
      <Fact look="stacked" name="Received">
        <Time at={at} />
      </Fact>
      {deployment !== undefined && (
        <div className="col-span-full flex min-w-0 gap-2 text-xs text-ink-3">
          <dt>Answered by</dt>
          <dd className="min-w-0 wrap-anywhere text-ink-2">{deployment}</dd>
        </div>
      )}
      {requestId !== undefined && (
        <div className="col-span-full flex min-w-0 items-center gap-2 text-xs text-ink-3">
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
