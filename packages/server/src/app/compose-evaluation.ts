import type { Config } from "../config/config.ts";
import { sweepRevisions } from "../datasets/datasets-store.ts";
import { createAskForVerdict } from "../evaluators/judge/ask-for-verdict.ts";
import { createErrorTaxonomyFamily } from "../evaluators/judge/error-taxonomy.ts";
import { createJudgeFamily } from "../evaluators/judge/judge.ts";
import type { JudgeModel } from "../evaluators/judge/judge-model.ts";
import { createRegistry, ruleFamilies } from "../evaluators/registry.ts";
import { createRuleRunner, ruleRunnerDefaults } from "../evaluators/rules/run-rule.ts";
import { createEvaluatorRunner } from "../evaluators/run-evaluator.ts";
import { findLabelledRevision } from "../evaluators/taxonomies/taxonomies.ts";
import type { ByteBudget } from "../platform/limits/memory.ts";
import { createFairSlots, watchLive } from "../platform/limits/turns.ts";
import type { Log, Logger } from "../platform/observability/logger.ts";
import type { FindRefusal } from "../platform/prices.ts";
import { startLooking } from "../platform/storage/leases.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { diskFloorOf, isInMemory } from "../platform/storage/sqlite/sqlite.ts";
import { isPostgres, type Store } from "../platform/storage/store.ts";
import { defined } from "../platform/words.ts";
import { findCorrections } from "../results/corrections-store.ts";
import { createKeysInFlight } from "../results/evaluate-route.ts";
import { createFreeRunIds } from "../results/placement.ts";
import { hasUncounted, rollUpSomeTags, rollUpSoon } from "../results/summary/tags.ts";
import { type CountsMerger, mergeCounts, mergeSoon } from "../results/write/merge-counts.ts";
import { createResultWriter } from "../results/write/result-writer.ts";
import { createWriteResults, toText, type WriteResults } from "../results/write/write-results.ts";
import { createClientCounts } from "../runs/client/client-counts.ts";
import { createUpstream, type Upstream, type UpstreamOptions } from "../upstream/create-upstream.ts";
import { type CountUnreachable, type Deployments, watchOutages } from "../upstream/deployments.ts";
import { needsSandbox } from "./compose-deployments.ts";
import type { EvaluationServices } from "./services.ts";
import { logFailure, type OpenedStore } from "./storage.ts";
import { uploadInPlace, uploadInThreads } from "./uploads.ts";
import { shareOf } from "./workers.ts";

const sweepIntervalMs = 5 * 60_000;

/** The services for datasets. Sweeps up after earlier processes. */
export function composeDatasets(
  config: Config,
  log: Log,
  { database }: Pick<Store, "database">,
  liveInFlight: () => number,
): EvaluationServices["datasets"] & { dispose(): Promise<void> } {
  const sweeper = startLooking({
    look: (signal) => sweepRevisions(database, signal),
    intervalMs: sweepIntervalMs,
    onFailure: (error) => logFailure(log, error, "could not delete the rows of deleted datasets; will retry"),
  });
  // An in-memory database belongs to its one connection.
  const uploads = isInMemory(config.databaseUrl)
    ? uploadInPlace(database)
    : uploadInThreads(config.databaseUrl, watchLive(liveInFlight));
  return {
    ...config.datasets,
    floor: diskFloorOf(config),
    uploads,
    sweeper,
    async dispose() {
      await uploads.stop();
      await sweeper.stop();
    },
  };
}

type Complete = Upstream["complete"];

interface EvaluationOptions {
  deployments: Deployments;
  memory?: ByteBudget;
  countUnreachable?: CountUnreachable;
  findRefusal?: FindRefusal;
  /** Whether results that earlier processes left uncounted are counted immediately. Absent: they are. */
  countsEarlier?: boolean;
  /** Absent: judges' calls are not counted. */
  recordJudgeCall?: JudgeModel["recordCall"];
}

/** All services that evaluate. */
export function composeEvaluation(
  config: Config,
  log: Log,
  { database, briefReader, writers }: Pick<OpenedStore, "database" | "briefReader" | "writers">,
  options: EvaluationOptions,
) {
  const { logger } = log;
  const judgeModel = composeJudge(config, logger, options);
  const askForVerdict = judgeModel === undefined ? undefined : createAskForVerdict(judgeModel);
  const registry = createRegistry([
    ...ruleFamilies,
    createJudgeFamily({
      askForVerdict,
      findCorrections: (requester, profilePublicId, limit) =>
        findCorrections(briefReader(requester), requester.accountId, profilePublicId, limit),
    }),
    createErrorTaxonomyFamily({
      askForVerdict,
      findLabelledRevision: (accountId, name, label) =>
        findLabelledRevision(database, accountId, name, label),
    }),
  ]);
  const maxThreads = shareOf(ruleRunnerDefaults.maxThreads, config.workers);
  const rules = createRuleRunner({ ...ruleRunnerDefaults, maxThreads, families: ruleFamilies });
  const writeResults: WriteResults =
    writers === undefined
      ? createWriteResults(database)
      : (records) => writers.live.send("results", toText(records));
  const countsMerger = composeCountsMerger(database, log);
  const tagRollup = composeTagRollup({ database, writers }, log);
  if (options.countsEarlier !== false) {
    countsMerger.schedule();
    tagRollup.schedule();
  }
  const resultWriter = createResultWriter(async (records) => {
    const written = await writeResults(records);
    countsMerger.schedule();
    tagRollup.schedule();
    return written;
  });
  return {
    registry,
    hasModel: judgeModel !== undefined,
    rules,
    runEvaluator: createEvaluatorRunner({
      rules,
      modelTimeoutMs: config.upstream.timeoutMs,
      onUnexpectedError: (error) => logger.error({ err: error }, "internal error in an evaluator"),
    }),
    keysInFlight: createKeysInFlight(),
    freeRunIds: createFreeRunIds(),
    clientCounts: createClientCounts(),
    resultWriter,
    countsMerger,
    countTagsSoon: tagRollup.schedule,
    /** The calls to the judge's model; undefined if none is configured. */
    judgeCalls: judgeModel?.slots,
    async dispose() {
      await rules.dispose();
      await countsMerger.stop();
      await tagRollup.stop();
    },
  };
}

/** On SQLite, results are counted as they are written, so there is nothing to merge. */
function composeCountsMerger(database: Database, log: Log): CountsMerger {
  if (!isPostgres(database)) return { schedule() {}, async stop() {} };
  return mergeSoon(
    () => mergeCounts(database),
    (error) => logFailure(log, error, "could not merge result counts; none are lost, and totals are correct"),
  );
}

/** For an SQLite file, a thread counts results by tag; it does not start until there are results. */
function composeTagRollup(
  { database, writers }: Pick<OpenedStore, "database" | "writers">,
  log: Log,
): CountsMerger {
  const rollUpSome = () => writers?.background.send("tags", undefined) ?? rollUpSomeTags(database);
  return rollUpSoon(
    async () => (await hasUncounted(database)) && (await rollUpSome()),
    (error) =>
      logFailure(log, error, "could not count results by tag; summaries by tag are correct, but slower"),
  );
}

/** The model behind judges: the default deployment's, unless judges have their own. The sandbox is not a model. */
function composeJudge(config: Config, logger: Logger, options: EvaluationOptions): JudgeModel | undefined {
  const complete = completeForJudges(config, logger, options);
  // An evaluation's deadline bounds how long its calls wait.
  const slots = createFairSlots({ slots: config.judge.maxInFlight });
  return complete && { complete, slots, recordCall: options.recordJudgeCall };
}

function completeForJudges(
  config: Config,
  logger: Logger,
  { deployments, memory, countUnreachable: count, findRefusal }: EvaluationOptions,
): Complete | undefined {
  if (config.judge.url === undefined && needsSandbox(config)) return undefined;
  const own = upstreamOfJudges(config);
  if (own !== undefined)
    return watchOutages(createUpstream({ ...own, ...defined({ memory, findRefusal }) }), { logger, count })
      .complete;
  const { model } = config.judge;
  return (request, ...call) =>
    deployments
      .getDefault()
      .upstream.complete(model === undefined ? request : { ...request, model }, ...call);
}

/** An upstream for judges alone: at their own address, or at the same address with their own key. */
export function upstreamOfJudges({ judge, upstream }: Config): UpstreamOptions | undefined {
  const { timeoutMs, retries, keepAlive, client, urls } = upstream;
  const rest = { name: "judges", apiKey: judge.apiKey, timeoutMs, retries, keepAlive, client };
  // The upstream's credential and model are for the upstream's address only.
  if (judge.url !== undefined) return { ...rest, urls: [judge.url], model: judge.model };
  if (judge.apiKey === undefined || urls === undefined) return undefined;
  return { ...rest, urls, model: judge.model ?? upstream.model };
}
