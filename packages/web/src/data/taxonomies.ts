import type {
  ErrorTaxonomyFilter,
  ErrorTaxonomyRevision,
  ErrorTaxonomyRevisionCreateRequest,
  Presage,
} from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";
import { listAll, useChange } from "./client.ts";

const queryKey = ["error-taxonomies"];
const pageSize = 100;

/** The newest revision of every taxonomy. */
export function latestTaxonomiesQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...queryKey, "latest"],
    queryFn: ({ signal }) => listRevisions(presage, { latest_revision_only: true }, signal),
  });
}

/** The revision with a label, for every taxonomy that has one. */
export function labelledTaxonomiesQuery(presage: Presage, label: string) {
  return queryOptions({
    queryKey: [...queryKey, "labelled", label],
    queryFn: ({ signal }) => listRevisions(presage, { label }, signal),
  });
}

/** All revisions of one taxonomy, newest first; empty if the taxonomy does not exist. */
export function taxonomyRevisionsQuery(presage: Presage, taxonomyId: string) {
  return queryOptions({
    queryKey: [...queryKey, "revisions", taxonomyId],
    queryFn: async ({ signal }) => {
      const revisions = await listRevisions(presage, { error_taxonomy_id: taxonomyId }, signal);
      return revisions.sort((one, other) => other.revision - one.revision);
    },
  });
}

/** How often evaluations found each kind of error of a revision. */
export function taxonomyFindingsQuery(presage: Presage, revisionId: string) {
  return queryOptions({
    queryKey: [...queryKey, "findings", revisionId],
    queryFn: ({ signal }) => presage.errorTaxonomies.findings(revisionId, {}, { signal }),
  });
}

/** The findings of the newest evaluations against a revision, by model, with examples. */
export function recentFindingsQuery(presage: Presage, revisionId: string) {
  return queryOptions({
    queryKey: [...queryKey, "recent findings", revisionId],
    queryFn: ({ signal }) => presage.errorTaxonomies.recentFindings(revisionId, { signal }),
  });
}

/** Creates a taxonomy, or adds a revision to one. */
export function useSaveTaxonomy({ onSuccess }: { onSuccess(): void }) {
  return useChange(
    queryKey,
    (presage, request: ErrorTaxonomyRevisionCreateRequest) => presage.errorTaxonomies.create(request),
    onSuccess,
  );
}

export function useSetTaxonomyLabel(revisionId: string) {
  return useChange(queryKey, (presage, label: string) =>
    presage.errorTaxonomies.setLabels(revisionId, [label]),
  );
}

export function useRemoveTaxonomyLabel(revisionId: string) {
  return useChange(queryKey, (presage, label: string) =>
    presage.errorTaxonomies.removeLabels(revisionId, [label]),
  );
}

function listRevisions(
  presage: Presage,
  filter: ErrorTaxonomyFilter,
  signal: AbortSignal,
): Promise<ErrorTaxonomyRevision[]> {
  return listAll(pageSize, (page) => presage.errorTaxonomies.list({ ...filter, ...page }, { signal }));
}

/** The names of built-in taxonomies begin with a prefix that other names may not have. */
export function isBuiltIn({ error_taxonomy_name }: ErrorTaxonomyRevision): boolean {
  return error_taxonomy_name.startsWith("system:");
}
