import type { Database } from "../../../storage/schema/tables.ts";
import type { Registry } from "../../evaluators/registry.ts";
import { hasResultsOf } from "../summary/rollup-store.ts";

/**
 * The evaluator id that a filter means: an alias stands for its newest evaluator, unless results were imported under that
 * very name. What is neither is an evaluator from elsewhere.
 */
export async function resolveEvaluatorId(
  reader: Database,
  registry: Registry,
  accountId: string,
  idOrAlias: string,
): Promise<string> {
  const id = registry.find(idOrAlias)?.id;
  if (id === undefined || id === idOrAlias) return idOrAlias;
  return (await hasResultsOf(reader, accountId, idOrAlias)) ? idOrAlias : id;
}
