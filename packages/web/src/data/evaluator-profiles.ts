import type { EvaluatorProfile, EvaluatorProfileFilter, Presage } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";
import { listAll } from "./list-all.ts";

const pageSize = 1_000;

/** Of every profile its newest revision; archived profiles only if they are asked for. */
export function latestProfilesQuery(presage: Presage, { isArchivedToo = false } = {}) {
  return queryOptions({
    queryKey: ["evaluator-profiles", "latest", { isArchivedToo }],
    queryFn: ({ signal }) =>
      listProfiles(presage, { get_last_revision: true, include_archived: isArchivedToo }, signal),
  });
}

/** All revisions of one profile, the newest first; none if there is no such profile. */
export function profileRevisionsQuery(presage: Presage, publicId: string) {
  return queryOptions({
    queryKey: ["evaluator-profiles", "revisions", publicId],
    queryFn: async ({ signal }) => {
      const revisions = await listProfiles(presage, { public_id: publicId, include_archived: true }, signal);
      return revisions.sort((one, other) => other.revision - one.revision);
    },
  });
}

/** How far people agreed with each revision of a profile. */
export function profileAgreementQuery(presage: Presage, publicId: string) {
  return queryOptions({
    queryKey: ["evaluator-profiles", "agreement", publicId],
    queryFn: async ({ signal }) => (await presage.profiles.agreement(publicId, { signal })).revisions,
  });
}

/** The figures of every revision that has results: of one profile, or of all. */
export function profileFiguresQuery(presage: Presage, publicId?: string) {
  return queryOptions({
    queryKey: ["evaluator-profiles", "figures", publicId ?? "all"],
    queryFn: async ({ signal }) => {
      const request = { group_by: ["profile" as const], evaluator_profile_public_id: publicId };
      return (await presage.results.summarise(request, { signal })).groups;
    },
  });
}

function listProfiles(
  presage: Presage,
  filter: EvaluatorProfileFilter,
  signal: AbortSignal,
): Promise<EvaluatorProfile[]> {
  return listAll(pageSize, (page) => presage.profiles.list({ ...filter, ...page }, { signal }));
}
