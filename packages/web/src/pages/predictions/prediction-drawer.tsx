import type { StoredPredictionDetail } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListFilter } from "lucide-react";
import { type ReactNode, Suspense } from "react";
import { usePresage } from "../../data/client.ts";
import { storedPredictionQuery } from "../../data/predictions.ts";
import { formatCount, formatDuration } from "../../format/numbers.ts";
import { exactTime } from "../../format/times.ts";
import { withoutVersion } from "../../format/words.ts";
import { PromptTurns, promptOf } from "../../parts/prompt.tsx";
import { CopyButton, IconButton } from "../../ui/button.tsx";
import { Fact } from "../../ui/card.tsx";
import { Drawer, DrawerHeader } from "../../ui/dialog.tsx";
import { lazyPart } from "../../ui/load.ts";
import { Awaited } from "../../ui/notice.tsx";
import { ScrollRegion } from "../../ui/page.tsx";
import { StepTexts } from "../../ui/steps/step-texts.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { PlainText } from "../../ui/untrusted-text/plain-text.tsx";
import { VerdictBadge } from "../../ui/verdict.tsx";
import type { LogChanges, PredictionLog } from "./log-filters.tsx";
import { PredictionActions } from "./prediction-actions.tsx";
import { StatusBadge, sourceLabels } from "./prediction-columns.tsx";

/** Loaded separately, as few predictions need it. */
const StoredLeaning = lazyPart(async () => (await import("../../parts/leaned-on.tsx")).StoredLeaning);

interface PredictionDrawerProps {
  /** Absent: the drawer is closed. */
  id: string | undefined;
  previous: string | undefined;
  next: string | undefined;
  /** Formatted, for example “$0.0012”, if the list has it. */
  cost: string | undefined;
  log: PredictionLog;
  onOpen(id: string | undefined): void;
  onCloseAutoFocus(event: Event): void;
}

export function PredictionDrawer({ id, onOpen, onCloseAutoFocus, ...rest }: PredictionDrawerProps) {
  return (
    <Drawer
      isOpen={id !== undefined}
      onClose={() => onOpen(undefined)}
      title="Prediction"
      onCloseAutoFocus={onCloseAutoFocus}
    >
      {id !== undefined && <OpenPrediction key={id} id={id} onOpen={onOpen} {...rest} />}
    </Drawer>
  );
}

function OpenPrediction({
  id,
  cost,
  log,
  onOpen,
  ...neighbours
}: Omit<PredictionDrawerProps, "id" | "onCloseAutoFocus"> & { id: string }) {
  const presage = usePresage();
  const { data: prediction, error, refetch } = useQuery(storedPredictionQuery(presage, id));
  return (
    <>
      <DrawerHeader {...neighbours} onOpen={onOpen} onClose={() => onOpen(undefined)}>
        {prediction?.interaction?.action ? <InlineText text={prediction.interaction.action} /> : "Prediction"}
      </DrawerHeader>
      <ScrollRegion label="The prediction" className="min-h-0 flex-1 overflow-y-auto -outline-offset-2">
        {prediction === undefined ? (
          <Awaited error={error} onRetry={refetch} count={4} className="h-20" />
        ) : (
          <PredictionDetail
            prediction={prediction}
            cost={cost}
            log={log}
            onDeleted={() => onOpen(undefined)}
          />
        )}
      </ScrollRegion>
    </>
  );
}

interface PredictionDetailProps {
  prediction: StoredPredictionDetail;
  cost: string | undefined;
  log: PredictionLog;
  onDeleted(): void;
}

/** The request, the answer, and where the answer came from. */
function PredictionDetail({ prediction, cost, log, onDeleted }: PredictionDetailProps) {
  const { output, reasoning, error_message, expected, params, requested_model, interaction } = prediction;
  const turns = promptOf(prediction);
  const fields = { ...(requested_model !== null && { model: requested_model }), ...params };
  return (
    <div className="flex flex-col gap-5 p-4">
      <div className="flex flex-wrap items-center gap-2">
        <StatusBadge prediction={prediction} />
        <span className="flex-1" />
        <PredictionActions prediction={prediction} onDeleted={onDeleted} />
      </div>
      <p className="-mt-2 text-xs text-ink-2 tabular-nums">{summaryOf(prediction, cost)}</p>
      <PredictionVerdicts verdicts={prediction.verdicts} />
      {interaction?.action != null && <PlainText text={interaction.action} label="Action" />}
      {error_message !== null && <PlainText text={error_message} label="Error" isProse />}
      {output !== null && expected != null && (
        <StepTexts
          before={expected}
          after={output}
          beforeLabel="Expected"
          afterLabel="Answer"
          isPredicted
          isStacked
        />
      )}
      {output !== null && expected == null && <PlainText text={output} label="Answer" />}
      {output === null && expected != null && <PlainText text={expected} label="Expected" />}
      <Suspense>{prediction.world && <StoredLeaning of={prediction} />}</Suspense>
      {reasoning !== null && reasoning !== "" && <PlainText text={reasoning} label="Reasoning" />}
      <section aria-label="Prompt" className="flex flex-col gap-3">
        <h3 className="text-sm font-semibold">
          {prediction.world === null ? "Prompt as sent" : "What the world was asked"}
        </h3>
        {turns.length === 0 && (
          <p className="text-sm text-ink-2">
            {prediction.source === "live"
              ? "It was not stored."
              : "The run or its dataset is gone, so it is not known any more."}
          </p>
        )}
        <PromptTurns turns={turns} />
        {Object.keys(fields).length > 0 && <PlainText text={JSON.stringify(fields)} label="Further fields" />}
      </section>
      <PredictionFacts prediction={prediction} log={log} />
    </div>
  );
}

/** The time, the caller and the cost, shown before texts of any length. */
function summaryOf(prediction: StoredPredictionDetail, cost: string | undefined): string {
  const { created_at, api_key_name, made_by, latency_ms, prompt_tokens, completion_tokens } = prediction;
  const facts = [
    exactTime(created_at),
    api_key_name ?? made_by,
    latency_ms === null ? null : formatDuration(latency_ms),
    prompt_tokens === null
      ? null
      : `${formatCount(prompt_tokens)} tokens in, ${formatCount(completion_tokens)} out`,
    cost,
  ];
  return facts.filter((fact) => fact != null).join(" · ");
}

/** The verdicts; each links to its result. */
function PredictionVerdicts({ verdicts = [] }: Pick<StoredPredictionDetail, "verdicts">) {
  if (verdicts.length === 0) return null;
  return (
    <section aria-label="Verdicts" className="-mt-2">
      <ul className="flex flex-wrap gap-x-4 gap-y-2 text-sm">
        {verdicts.map(({ evaluator, profile_name, evaluation_result_id: result, ...verdict }) => (
          <li key={`${evaluator} ${profile_name}`} className="flex items-center gap-2">
            <VerdictBadge {...verdict} />
            {result === null ? (
              withoutVersion(evaluator)
            ) : (
              <Link
                to="/evaluations"
                search={{ result }}
                className="text-accent-ink underline underline-offset-2"
              >
                {withoutVersion(evaluator)}
              </Link>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface PredictionFactsProps {
  prediction: StoredPredictionDetail;
  log: PredictionLog;
}

/** Which model answered, how long it took and what it used; most facts can be used as filters. */
function PredictionFacts({ prediction, log }: PredictionFactsProps) {
  const { source, deployment, model, replica, finish_reason } = prediction;
  const { cached_tokens, api_key_id, request_id, run_id } = prediction;
  const filterBy = (changes: LogChanges) => () => log.change({ ...changes, open: undefined });
  return (
    <section aria-label="Details">
      <h3 className="pb-2 text-sm font-semibold">Details</h3>
      <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] rounded-md border border-line text-sm *:*:px-3!">
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
        {!!cached_tokens && <One name="Tokens from the cache">{formatCount(cached_tokens)}</One>}
        <Text
          name="API key"
          text={prediction.api_key_name ?? api_key_id}
          onFilter={filterBy({ key: api_key_id ?? undefined })}
        />
        {api_key_id === null && prediction.made_by != null && <Text name="By" text={prediction.made_by} />}
        <One name="ID">
          <code className="font-mono text-xs wrap-anywhere">{prediction.id}</code>
          <CopyButton text={prediction.id} label="Copy the prediction’s ID" />
        </One>
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
