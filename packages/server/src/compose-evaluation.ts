import type { Config } from "./config.ts";
import { createEvaluate, type Evaluate } from "./evaluation/evaluate.ts";
import { RefusedOrderError } from "./evaluation/evaluation-order.ts";
import { createErrorTaxonomyFamily } from "./evaluation/evaluators/error-taxonomy.ts";
import { createJudgeFamily } from "./evaluation/evaluators/judge.ts";
import { createRegistry, type Registry, ruleFamilies } from "./evaluation/evaluators/registry.ts";
import { createAskForVerdict } from "./evaluation/judge/ask-for-verdict.ts";
import type { CheckInThread } from "./evaluation/profiles/check-config.ts";
import { findUsableProfile } from "./evaluation/profiles/find-usable-profile.ts";
import { type FindProfile, resolveEvaluators } from "./evaluation/resolve-evaluators.ts";
import { createFindConfidenceInterval } from "./evaluation/results/find-confidence-interval.ts";
import { findCorrections } from "./evaluation/results/find-corrections.ts";
import { createResultsKeeper, type ResultsKeeper } from "./evaluation/results/keep-results.ts";
import { selectByRequestKeys } from "./evaluation/results/kept-results-store.ts";
import { writeInThread } from "./evaluation/results/write-in-thread.ts";
import { writeResults } from "./evaluation/results/write-results.ts";
import { createEvaluatorRunner } from "./evaluation/run-evaluator.ts";
import { createRuleRunner, ruleRunnerDefaults } from "./evaluation/run-rule.ts";
import { findLabelledRevision } from "./evaluation/taxonomies/find-labelled-revision.ts";
import type { FindRefusals } from "./http/routes/evaluate.ts";
import type { Logger } from "./observability/logger.ts";
import type { OpenedDatabase } from "./storage/open-database.ts";
import type { Database } from "./storage/tables.ts";
import { createUpstream } from "./upstream/create-upstream.ts";
import type { Upstream } from "./upstream/upstream.ts";

export interface Evaluation {
  registry: Registry;
  evaluate: Evaluate;
  findRefusals: FindRefusals;
  keeper: ResultsKeeper;
  checkInThread: CheckInThread;
  dispose(): Promise<void>;
}

/** Everything that evaluates. */
export function composeEvaluation(
  config: Config,
  logger: Logger,
  { database, briefReader, sqlitePath }: Pick<OpenedDatabase, "database" | "briefReader" | "sqlitePath">,
): Evaluation {
  const completeJudging = composeJudge(config);
  const askForVerdict = completeJudging === undefined ? undefined : createAskForVerdict(completeJudging);
  const registry = createRegistry([
    ...ruleFamilies,
    createJudgeFamily({
      askForVerdict,
      findCorrections: (accountId, profilePublicId, limit) =>
        findCorrections(briefReader, accountId, profilePublicId, limit),
    }),
    createErrorTaxonomyFamily({
      askForVerdict,
      findLabelledRevision: (accountId, name, label) =>
        findLabelledRevision(database, accountId, name, label),
    }),
  ]);
  const rules = createRuleRunner({ ...ruleRunnerDefaults, families: ruleFamilies });
  const writer = sqlitePath === undefined ? writeInPlace(database) : writeInThread(sqlitePath);
  const keeper = createResultsKeeper(writer.write);
  const findProfile: FindProfile = (accountId, family, name) =>
    findUsableProfile(database, accountId, family, name);
  const evaluate = createEvaluate({
    registry,
    findProfile,
    runEvaluator: createEvaluatorRunner({
      rules,
      modelTimeoutMs: config.upstream.timeoutMs,
      onFault: (error) => logger.error({ err: error }, "an evaluator failed for a reason of ours"),
    }),
    findConfidenceInterval: createFindConfidenceInterval(briefReader),
    keeper,
    // A few rows by their keys: not behind whatever long read is under way.
    findKept: (accountId, requestKeys) => selectByRequestKeys(database, accountId, requestKeys),
  });
  return {
    registry,
    evaluate,
    async findRefusals(accountId, evaluators) {
      try {
        await resolveEvaluators(registry, findProfile, accountId, evaluators);
        return [];
      } catch (error) {
        if (error instanceof RefusedOrderError) return error.refusals;
        throw error;
      }
    },
    keeper,
    checkInThread: rules.check,
    async dispose() {
      await rules.dispose();
      await writer.end();
    },
  };
}

function writeInPlace(database: Database): ReturnType<typeof writeInThread> {
  return { write: (records) => writeResults(database, records), end: async () => {} };
}

/** The model behind judges: the upstream's, unless they have one of their own. The sandbox is no model. */
function composeJudge({ judge, upstream }: Config): Upstream["complete"] | undefined {
  const url = judge.url ?? upstream.url;
  if (url === undefined) return undefined;
  // The upstream's credential and model are for the upstream's address only.
  const defaults = judge.url === undefined ? upstream : undefined;
  return createUpstream({
    url,
    apiKey: judge.apiKey ?? defaults?.apiKey,
    model: judge.model ?? defaults?.model,
    timeoutMs: upstream.timeoutMs,
    retries: upstream.retries,
  }).complete;
}
