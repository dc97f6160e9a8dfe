import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config/config.ts";
import { createRedactor } from "../datasets/traces/redaction/redact.ts";
import { messagesWithParts } from "../exports/otel.ts";
import type { Use } from "../http/exchange.ts";
import type { OpenSockets } from "../http/sockets.ts";
import type { ByteBudget } from "../platform/limits/memory.ts";
import { exportMetrics, exportTraces, forwardTraces } from "../platform/observability/export.ts";
import { type Log, type Logger, watchOutage } from "../platform/observability/logger.ts";
import {
  type Metrics,
  type ReplicaFigures,
  watchBudgets,
  watchCounts,
  watchFalseSuccess,
  watchReplicas,
} from "../platform/observability/metrics.ts";
import type { LogExport } from "../platform/observability/otlp.ts";
import type { Tracing } from "../platform/observability/tracing.ts";
import type { PriceList } from "../platform/prices.ts";
import { usualIntervalMs } from "../platform/storage/batches.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Capture } from "../predictions/capture.ts";
import { alarmsIn, type RealityWatch, type WatchedEnvironment } from "../reality/watch.ts";
import type { CompletionCache } from "../upstream/cache.ts";
import type { ModelUse } from "../upstream/completion.ts";
import type { Deployment } from "../upstream/deployments.ts";
import { replicaAddress } from "../upstream/replicas.ts";
import { createSpending, type Spending, type SpentBudget, usedShare } from "../usage/budgets.ts";
import { collectUsage } from "../usage/collect-usage.ts";
import { writeUsage } from "../usage/usage-store.ts";
import type { ObservedAnswer } from "../worlds/choose-examples.ts";
import type { WorldParts } from "../worlds/world-parts.ts";
import type { composeLimits } from "./compose-deployments.ts";
import type { composeEvaluation } from "./compose-evaluation.ts";
import type { Services } from "./services.ts";
import { logFailure } from "./storage.ts";

/** A server that is stopping has little time before it is killed. */
const maxStopMs = 10_000;

/** The limit on the texts of one span, as two thousand spans may wait to be sent. */
const maxSpanCharacters = 128 * 1024;

/** Texts as they appear in spans: without secrets, like exports. */
function spanTexts(messages: readonly unknown[]): string | undefined {
  const texts = messagesWithParts(createRedactor("default").redactValue(messages));
  return texts.length > maxSpanCharacters ? undefined : texts;
}

/** Spans and metrics, sent if there is an endpoint. An unavailable endpoint costs a line in the log. */
export async function composeTelemetry(
  { telemetry: { attributes, traces, metrics }, workers }: Pick<Config, "telemetry" | "workers">,
  logger: Logger,
  { registry }: Pick<Metrics, "registry">,
  instanceId: string,
): Promise<Tracing> {
  const ofProcess = { ...attributes, [instanceName]: instanceOf(attributes, instanceId, workers.count) };
  const exported =
    metrics && (await exportMetrics(metrics, ofProcess, logEnds(logger, "metrics", metrics.url), registry));
  const tracing =
    traces === undefined
      ? forwardTraces(exported?.chats)
      : await exportTraces(
          traces,
          ofProcess,
          logEnds(logger, "traces", traces.url),
          exported?.chats,
          traces.hasTexts ? spanTexts : undefined,
        );
  return {
    ...tracing,
    async stop() {
      const timeoutMs = Math.max(0, ...[traces, metrics].map((target) => target?.timeoutMs ?? 0));
      const waitMs = Math.min(timeoutMs, maxStopMs);
      const sent = Promise.all([tracing.stop(), exported?.stop()]);
      // Bounded here, because the SDK waits for several exports one after the other.
      await Promise.race([sent, sleep(waitMs, undefined, { ref: false })]);
    },
  };
}

const instanceName = "service.instance.id";

/** Processes are counted separately, so an operator's name suffices only for a single process. */
function instanceOf(
  { [instanceName]: given }: Config["telemetry"]["attributes"],
  instanceId: string,
  processes: number,
): string {
  return given !== undefined && processes === 1 ? given : `${given ?? instanceId}/${process.pid}`;
}

/** The error may contain the address, which has no credentials; it never contains headers. */
function logEnds(logger: Logger, signal: "traces" | "metrics", url: string): LogExport {
  const outage = watchOutage(logger, {
    // Metrics are totals, so the next export includes everything.
    begins: `could not send ${signal}${signal === "traces" ? "; those in between are lost" : ""}`,
    ends: `${signal} are sent again`,
    fields: { url },
  });
  return (error) => {
    if (error === undefined) outage.responded();
    else outage.failed("export", () => ({ reason: error.message }));
  };
}

interface Watched {
  deployments: Services["deployments"];
  limits: ReturnType<typeof composeLimits>;
  sockets: OpenSockets;
  judgeCalls: ReturnType<typeof composeEvaluation>["judgeCalls"];
  memory: ByteBudget;
  capture: Pick<Capture, "heldBytes">;
  completions: Pick<CompletionCache, "bytes">;
  worlds: Pick<WorldParts, "indexes">;
  usage: { spending: Pick<Spending, "all"> };
  reality: Pick<RealityWatch, "all">;
}

/** Metrics that are read when `/metrics` is requested. */
export function watchFigures(
  { registry }: Pick<Metrics, "registry">,
  { deployments, limits, sockets, judgeCalls, memory, capture, completions, worlds, usage, reality }: Watched,
): void {
  watchFalseSuccess(registry, async () => (await reality.all()).map(falseSuccessOf));
  watchBudgets(registry, () => usage.spending.all().flatMap(usedRatio));
  watchReplicas(registry, () => deployments.all().flatMap(replicaFigures));
  watchCounts(registry, {
    presage_predictions_in_flight: limits.predictions.inFlight,
    presage_evaluations_in_flight: limits.evaluations.inFlight,
    presage_openenv_sockets: sockets.count,
    presage_judge_calls_in_flight: () => judgeCalls?.inUse() ?? 0,
    presage_judge_calls_waiting: () => judgeCalls?.waiting() ?? 0,
    presage_memory_held_bytes: memory.reservedBytes,
    presage_memory_budget_bytes: () => memory.maxBytes,
    presage_capture_held_bytes: capture.heldBytes,
    presage_cache_bytes: completions.bytes,
    presage_index_bytes: worlds.indexes.bytes,
  });
}

export function countWorldAnswer(
  metrics: Pick<Metrics, "worldPredictions" | "worldAbstentions" | "worldEscalations" | "retrievalSeconds">,
  { world, abstained, isEscalated, explain }: ObservedAnswer,
): void {
  metrics.worldPredictions([world.name, world.answered_by]);
  // Without a search, or if it was cached, there is no time.
  if (explain.retrieval_ms > 0) metrics.retrievalSeconds.observe(explain.retrieval_ms / 1000);
  if (abstained) metrics.worldAbstentions([]);
  if (isEscalated) metrics.worldEscalations([]);
}

/** The metrics of a budget: none if the used share is not known. */
function usedRatio(budget: SpentBudget) {
  const ratio = usedShare(budget);
  return ratio === null ? [] : [{ accountId: budget.account_id, keyId: budget.api_key_id, ratio }];
}

function falseSuccessOf({ accountId, environment, state }: WatchedEnvironment) {
  return { accountId, environment, ratio: state.value, isAlarm: alarmsIn(state).length > 0 };
}

/** The metrics of a deployment's replicas. */
function replicaFigures({ name, upstream }: Deployment): ReplicaFigures[] {
  return upstream.replicas.all.map((replica) => {
    const averageMs = replica.latency.average()?.ms;
    return {
      deployment: name,
      replica: replicaAddress(replica.url),
      presage_replica_in_flight: replica.inFlight,
      presage_replica_up: replica.health.state() === "up" ? 1 : 0,
      presage_replica_ejections_total: replica.health.ejections(),
      presage_replica_requests_total: replica.requests,
      presage_replica_prefix_requests_total: replica.prefixRequests,
      presage_replica_latency_seconds: averageMs === undefined ? undefined : averageMs / 1000,
    };
  });
}

/** Counts requests and tokens, and how much of each budget is left. */
export async function composeUsage(
  { patience }: Pick<Config, "patience">,
  log: Log,
  database: Database,
  prices: PriceList,
) {
  const spending = createSpending({ database, prices, logger: log.logger });
  const readBudgets = () =>
    spending
      .refresh(pending)
      .catch((error: unknown) =>
        logFailure(log, error, "could not read budgets; what this process spends is counted on"),
      );
  const { record, pending, writeNow, stop } = collectUsage(
    (batch) => writeUsage(database, batch),
    (error, isFirst) =>
      logFailure(log, error, "could not write usage; will retry what was not refused", isFirst),
    (model) => prices.current()?.models.has(model) === true,
    { intervalMs: usualIntervalMs * patience, afterwards: readBudgets },
  );
  const recordAll = (use: Use) => {
    record(use);
    spending.record(use);
  };
  await readBudgets();
  return {
    spending,
    /** Stores the counts, and reads all budgets again. */
    settle: writeNow,
    record: recordAll,
    /** Without latencies: usage has those of clients' predictions only. */
    recordCallsOf: (operation: "judge" | "run") => (call: ModelUse) =>
      recordAll({ ...call, operation, totalMs: 0, upstreamMs: undefined }),
    stop,
  };
}
