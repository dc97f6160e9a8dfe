import type { Requester } from "../../platform/storage/reader.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import { hasResultsOf } from "../summary/rollup-store.ts";

/**
 * The evaluator id that a filter means: an alias stands for its newest evaluator, unless results were imported under that name. Any
 * other name is that of an external evaluator.
 */
export async function resolveEvaluatorId(
  { store, registry }: Pick<EvaluationServices, "store" | "registry">,
  requester: Requester,
  idOrAlias: string,
): Promise<string> {
  const id = registry.find(idOrAlias)?.id;
  if (id === undefined || id === idOrAlias) return idOrAlias;
  const reader = store.reader({ ...requester, rows: 1 });
  return (await hasResultsOf(reader, requester.accountId, idOrAlias)) ? idOrAlias : id;
}
