import type { Evaluation } from "./compose-evaluation.ts";
import type { Registry } from "./evaluation/evaluators/registry.ts";
import { correctResult } from "./evaluation/results/correct-result.ts";
import { exportResults } from "./evaluation/results/export-results.ts";
import { findResult } from "./evaluation/results/find-result.ts";
import { createImportOnce } from "./evaluation/results/import-results-once.ts";
import { measureResult } from "./evaluation/results/measure-result.ts";
import { resolveEvaluatorId } from "./evaluation/results/resolve-evaluator-id.ts";
import { searchResults } from "./evaluation/results/search-results.ts";
import { summarise } from "./evaluation/results/summarise.ts";
import type { EvaluationResultsArea } from "./http/routes/evaluation-results.ts";
import type { OpenedDatabase } from "./storage/open-database.ts";

/** Everything that is done with results once they are there, and the import of others. */
export function composeResults(
  { database, reader, briefReader }: Pick<OpenedDatabase, "database" | "reader" | "briefReader">,
  registry: Registry,
  { keeper, folder }: Pick<Evaluation, "keeper" | "folder">,
): EvaluationResultsArea {
  return {
    resolveEvaluatorId: (accountId, idOrAlias) => resolveEvaluatorId(reader, registry, accountId, idOrAlias),
    searchResults: (accountId, filter, page) => searchResults(reader, accountId, filter, page),
    exportResults: (accountId, filter, order) => exportResults(reader, accountId, filter, order),
    measureResult: (accountId, id) => measureResult(briefReader, accountId, id),
    findResult: (accountId, id) => findResult(briefReader, accountId, id),
    async correctResult(accountId, correction, once) {
      const result = await correctResult({ database, reader: briefReader }, accountId, correction, once);
      folder.note();
      return result;
    },
    importResults: createImportOnce(database, keeper),
    summarise: (accountId, wanted) => summarise(reader, accountId, wanted),
  };
}
