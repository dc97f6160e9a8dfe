import type { Migration } from "kysely";
import { identity } from "./001-identity.ts";
import { errorTaxonomies } from "./002-error-taxonomies.ts";

/** Every migration by its name, in the order in which they run. A name never changes once it has been released. */
export const migrations: Record<string, Migration> = {
  "001-identity": identity,
  "002-error-taxonomies": errorTaxonomies,
};
