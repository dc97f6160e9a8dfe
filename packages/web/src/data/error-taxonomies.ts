import type { ErrorTaxonomyFilter, ErrorTaxonomyRevision, Presage } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";
import { listAll } from "./list-all.ts";

const pageSize = 100;

/** Of every taxonomy its newest revision. */
export function latestTaxonomiesQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["error-taxonomies", "latest"],
    queryFn: ({ signal }) => listRevisions(presage, { latest_revision_only: true }, signal),
  });
}

/** The revision that bears a label, of every taxonomy that has one. */
export function labelledTaxonomiesQuery(presage: Presage, label: string) {
  return queryOptions({
    queryKey: ["error-taxonomies", "labelled", label],
    queryFn: ({ signal }) => listRevisions(presage, { label }, signal),
  });
}

/** All revisions of one taxonomy, the newest first; none if there is no such taxonomy. */
export function taxonomyRevisionsQuery(presage: Presage, taxonomyId: string) {
  return queryOptions({
    queryKey: ["error-taxonomies", "revisions", taxonomyId],
    queryFn: async ({ signal }) => {
      const revisions = await listRevisions(presage, { error_taxonomy_id: taxonomyId }, signal);
      return revisions.sort((one, other) => other.revision - one.revision);
    },
  });
}

/** How often evaluations found each kind of error of a revision. */
export function taxonomyFindingsQuery(presage: Presage, revisionId: string) {
  return queryOptions({
    queryKey: ["error-taxonomies", "findings", revisionId],
    queryFn: ({ signal }) => presage.errorTaxonomies.findings(revisionId, {}, { signal }),
  });
}

function listRevisions(
  presage: Presage,
  filter: ErrorTaxonomyFilter,
  signal: AbortSignal,
): Promise<ErrorTaxonomyRevision[]> {
  return listAll(pageSize, (page) => presage.errorTaxonomies.list({ ...filter, ...page }, { signal }));
}

/** Whether a taxonomy comes with Presage: nobody else’s name begins so. */
export function isBuiltIn({ error_taxonomy_name }: { error_taxonomy_name: string }): boolean {
  return error_taxonomy_name.startsWith("system:");
}
