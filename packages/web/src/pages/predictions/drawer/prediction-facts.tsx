import type { StoredPredictionDetail } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { ListFilter } from "lucide-react";
import type { ReactNode } from "react";
import { formatCount, formatDuration } from "../../../format/format-number.ts";
import { exactTime } from "../../../format/format-time.ts";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Fact } from "../../../ui/fact.tsx";
import { IconButton } from "../../../ui/icon-button.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { sourceLabels } from "../prediction-labels.ts";
import type { LogChanges, PredictionLog } from "../use-log.ts";

interface PredictionFactsProps {
  prediction: StoredPredictionDetail;
  log: PredictionLog;
}

/** Who answered, how long it took and what it used; most of it can be filtered by. */
export function PredictionFacts({ prediction, log }: PredictionFactsProps) {
  const { source, created_at, deployment, model, replica, finish_reason, latency_ms } = prediction;
  const { prompt_tokens, cached_tokens, completion_tokens, api_key_id, request_id, run_id } = prediction;
  const filterBy = (changes: LogChanges) => () => log.change({ ...changes, open: undefined });
  return (
    <section aria-label="Details">
      <h3 className="pb-2 text-sm font-semibold">Details</h3>
      <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] rounded-md border border-line text-sm">
        <One name="Time">{exactTime(created_at)}</One>
        <One name="Source" onFilter={filterBy({ source })}>
          {sourceLabels[source]}
        </One>
        {run_id !== null && (
          <One name={source === "run" ? "Run" : "Episode"} onFilter={filterBy({ run: run_id })}>
            <Link {...pageOf(source, run_id)} className="text-accent-ink underline underline-offset-2">
              <InlineText text={prediction.run_name ?? run_id} />
            </Link>
          </One>
        )}
        <Text
          name="Deployment"
          text={deployment}
          onFilter={filterBy({ deployment: deployment ?? undefined })}
        />
        <Text name="Model" text={model} onFilter={filterBy({ model: model ?? undefined })} />
        <Text name="Replica" text={replica} />
        <Text name="Finish reason" text={finish_reason} />
        {latency_ms !== null && <One name="Latency">{formatDuration(latency_ms)}</One>}
        <One name="Tokens">
          {formatCount(prompt_tokens)} of the prompt, {formatCount(completion_tokens)} of the completion
          {cached_tokens !== null && cached_tokens > 0 && `, ${formatCount(cached_tokens)} from the cache`}
        </One>
        <Text
          name="API key"
          text={prediction.api_key_name ?? api_key_id}
          onFilter={filterBy({ key: api_key_id ?? undefined })}
        />
        {request_id !== null && (
          <One name="Request" onFilter={filterBy({ request: request_id })}>
            <code className="font-mono text-xs">{request_id}</code>
            <CopyButton text={request_id} label="Copy request ID" />
          </One>
        )}
      </dl>
    </section>
  );
}

function pageOf(source: StoredPredictionDetail["source"], id: string) {
  return source === "run"
    ? ({ to: "/runs/$runId", params: { runId: id } } as const)
    : ({ to: "/episodes/$episodeId", params: { episodeId: id } } as const);
}

interface OneProps {
  name: string;
  onFilter?: () => void;
  children: ReactNode;
}

function One({ name, onFilter, children }: OneProps) {
  return (
    <Fact look="lined" name={name}>
      <span className="inline-flex min-w-0 items-center gap-1 wrap-anywhere">{children}</span>
      {onFilter !== undefined && (
        <IconButton
          label={`Filter by this ${name.toLowerCase()}`}
          icon={<ListFilter aria-hidden />}
          className="-my-1"
          onClick={onFilter}
        />
      )}
    </Fact>
  );
}

function Text({ text, ...rest }: Omit<OneProps, "children"> & { text: string | null }) {
  if (text === null) return null;
  return (
    <One {...rest}>
      <InlineText text={text} />
    </One>
  );
}
