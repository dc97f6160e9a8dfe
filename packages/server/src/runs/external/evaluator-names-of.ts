import { toExternalName } from "../../evaluators/outcome.ts";
import type { EvaluatorNames } from "../run.ts";
import type { NamesRow } from "./external-results-store.ts";

/** The evaluator of results as the API names it. */
export function evaluatorNamesOf(row: NamesRow): EvaluatorNames {
  return {
    evaluator: row.is_external === 1 ? toExternalName(row.evaluator_id) : row.evaluator_id,
    profile_name: row.profile_name,
    profile_id: row.profile_public_id,
    profile_revision: row.profile_revision,
  };
}
