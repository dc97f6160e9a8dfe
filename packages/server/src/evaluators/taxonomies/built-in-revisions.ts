import { ServiceError } from "../../platform/errors.ts";
import { toMicros } from "../../platform/storage/micros.ts";
import { agentErrors } from "./agent-errors.ts";
import type { TaxonomyRevision, TaxonomyRevisionFilter } from "./error-taxonomies-store.ts";
import { worldModelErrors } from "./world-model-errors.ts";

/** Namespace of built-in taxonomies' ids; any fixed UUID would do. */
const namespace = "5f0c4a1e-2f0b-4a53-8d4e-6f9f0f6f3c11";

/** What every account sees of the built-in revisions; `account_id` is that of the reader. */
const revisions: readonly Omit<TaxonomyRevision, "account_id">[] = [agentErrors, worldModelErrors].map(
  ({ name, description, body }) => ({
    id: Bun.randomUUIDv5(`${name}/1`, namespace),
    error_taxonomy_id: Bun.randomUUIDv5(name, namespace),
    error_taxonomy_name: name,
    error_taxonomy_description: description,
    revision: 1,
    body: JSON.stringify(body),
    metadata: null,
    labels: ["production"],
    created_at: toMicros(new Date("2026-11-21T00:00:00Z")),
  }),
);
const revisionIds = new Set(revisions.map(({ id }) => id));
const taxonomyIds = new Set(revisions.map(({ error_taxonomy_id }) => error_taxonomy_id));

/** The built-in revisions that match a filter, regardless of its limit and offset. */
export function builtInRevisions(
  accountId: string,
  { revisionId, taxonomyId, taxonomyName, label }: Omit<TaxonomyRevisionFilter, "limit" | "offset">,
): TaxonomyRevision[] {
  return revisions
    .filter(
      (revision) =>
        (revisionId ?? revision.id) === revision.id &&
        (taxonomyId ?? revision.error_taxonomy_id) === revision.error_taxonomy_id &&
        (taxonomyName ?? revision.error_taxonomy_name) === revision.error_taxonomy_name &&
        (label === undefined || revision.labels.includes(label)),
    )
    .map((revision) => ({ ...revision, account_id: accountId }));
}

export function isBuiltInRevision(revisionId: string): boolean {
  return revisionIds.has(revisionId);
}

export function isBuiltInTaxonomy(taxonomyId: string): boolean {
  return taxonomyIds.has(taxonomyId);
}

export function builtInIsFixed(): ServiceError {
  return new ServiceError("conflict", "A built-in error taxonomy cannot be changed.");
}
