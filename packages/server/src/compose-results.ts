import type { Registry } from "./evaluation/evaluators/registry.ts";
import { correctResultOnce } from "./evaluation/results/correct-result-once.ts";
import { exportResults } from "./evaluation/results/export-results.ts";
import { findResult } from "./evaluation/results/find-result.ts";
import { createImportOnce } from "./evaluation/results/import-results-once.ts";
import type { ResultsKeeper } from "./evaluation/results/keep-results.ts";
import { resolveEvaluatorId } from "./evaluation/results/resolve-evaluator-id.ts";
import { searchResults } from "./evaluation/results/search-results.ts";
import { summarise } from "./evaluation/results/summarise.ts";
import type { EvaluationResultsArea } from "./http/routes/evaluation-results.ts";
import type { OpenedDatabase } from "./storage/open-database.ts";

/** Everything that is done with results once they are there, and the import of others. */
export function composeResults(
  { database, reader, briefReader }: Pick<OpenedDatabase, "database" | "reader" | "briefReader">,
  registry: Registry,
  keeper: ResultsKeeper,
): EvaluationResultsArea {
  return {
    resolveEvaluatorId: (accountId, idOrAlias) => resolveEvaluatorId(reader, registry, accountId, idOrAlias),
    searchResults: (accountId, filter, page) => searchResults(reader, accountId, filter, page),
    exportResults: (accountId, filter, order) => exportResults(reader, accountId, filter, order),
    findResult: (accountId, id) => findResult(briefReader, accountId, id),
    correctResult: (accountId, correction, once) =>
      correctResultOnce(database, briefReader, accountId, correction, once),
    importResults: createImportOnce(database, keeper),
    summarise: (accountId, wanted) => summarise(reader, accountId, wanted),
  };
}
