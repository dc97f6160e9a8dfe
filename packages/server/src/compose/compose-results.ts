import type { Registry } from "../evaluation/evaluators/registry.ts";
import { correctResult } from "../evaluation/results/corrections/correct-result.ts";
import { createImportOnce } from "../evaluation/results/keep/import-results-once.ts";
import { findResult } from "../evaluation/results/record/find-result.ts";
import { measureResult } from "../evaluation/results/record/measure-result.ts";
import { resolveEvaluatorId } from "../evaluation/results/record/resolve-evaluator-id.ts";
import { exportResults } from "../evaluation/results/search/export-results.ts";
import { searchResults } from "../evaluation/results/search/search-results.ts";
import { summarise } from "../evaluation/results/summary/summarise.ts";
import type { EvaluationResultsArea } from "../http/resources/results/evaluation-results.ts";
import type { OpenedDatabase } from "../storage/open-database.ts";
import type { Evaluation } from "./compose-evaluation.ts";

/** Everything that is done with results once they are there, and the import of others. */
export function composeResults(
  { database, writer, reader, briefReader }: Omit<OpenedDatabase, "migrated" | "sqlitePath" | "destroy">,
  registry: Registry,
  { keeper, folder }: Pick<Evaluation, "keeper" | "folder">,
): EvaluationResultsArea {
  return {
    resolveEvaluatorId: (asker, idOrAlias) =>
      resolveEvaluatorId(reader(asker), registry, asker.accountId, idOrAlias),
    searchResults: (asker, filter, page) => searchResults(reader(asker), asker.accountId, filter, page),
    exportResults: (asker, filter, order) => exportResults(reader(asker), asker.accountId, filter, order),
    measureResult: (asker, id) => measureResult(briefReader(asker), asker.accountId, id),
    findResult: (asker, id) => findResult(briefReader(asker), asker.accountId, id),
    async correctResult(asker, correction, once) {
      const stores = { database: writer(asker), reader: briefReader(asker) };
      const result = await correctResult(stores, asker.accountId, correction, once);
      folder.note();
      return result;
    },
    importResults: createImportOnce({ database, writer }, keeper),
    summarise: (asker, wanted) => summarise(reader(asker), asker.accountId, wanted),
  };
}
