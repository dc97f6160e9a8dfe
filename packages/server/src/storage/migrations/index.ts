import type { Migration } from "kysely";
import { identity } from "./001-identity.ts";
import { errorTaxonomies } from "./002-error-taxonomies.ts";
import { evaluatorProfiles } from "./003-evaluator-profiles.ts";
import { evaluationResults } from "./004-evaluation-results.ts";

/** Every migration by its name, in the order in which they run. A name never changes once it has been released. */
export const migrations: Record<string, Migration> = {
  "001-identity": identity,
  "002-error-taxonomies": errorTaxonomies,
  "003-evaluator-profiles": evaluatorProfiles,
  "004-evaluation-results": evaluationResults,
};
