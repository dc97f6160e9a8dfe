import type {
  EvaluateItem,
  EvaluateRequest,
  EvaluatorProfile,
  EvaluatorProfileCreateRequest,
  EvaluatorProfileFilter,
  EvaluatorProfileRevisionRequest,
  Presage,
} from "@presage/sdk";
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { meQueryKey } from "./accounts.ts";
import { listAll, useChange, usePresage } from "./client.ts";
import { ofDirect } from "./summaries.ts";

/** Every version of every family. They change only with the server's version. */
export function evaluatorsQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["evaluators"],
    queryFn: ({ signal }) => presage.evaluators.list({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The families' input fields and config schemas. */
export function evaluatorFamiliesQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["evaluator-families"],
    queryFn: ({ signal }) => presage.evaluators.listFamilies({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Runs evaluators. `onSuccess` also gets what the caller passed along with the request. */
export function useEvaluate<Variables extends { request: EvaluateRequest }>(
  onSuccess?: (items: EvaluateItem[], variables: Variables) => void,
) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ request }: Variables) => presage.evaluate(request),
    onSuccess: (items, variables) => {
      onSuccess?.(items, variables);
      // A stored result changes nearly every list and total.
      if (variables.request.capture !== "none")
        void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== meQueryKey[0] });
    },
  });
}

export const profilesQueryKey = ["evaluator-profiles"];
const pageSize = 1_000;

/** The newest revision of every profile; archived profiles only on request. */
export function latestProfilesQuery(presage: Presage, { includesArchived = false } = {}) {
  return queryOptions({
    queryKey: [...profilesQueryKey, "latest", { includesArchived }],
    queryFn: ({ signal }) =>
      listProfiles(presage, { get_last_revision: true, include_archived: includesArchived }, signal),
  });
}

/** All revisions of one profile, newest first; empty if the profile does not exist. */
export function profileRevisionsQuery(presage: Presage, publicId: string) {
  return queryOptions({
    queryKey: [...profilesQueryKey, "revisions", publicId],
    queryFn: async ({ signal }) => {
      const revisions = await listProfiles(presage, { public_id: publicId, include_archived: true }, signal);
      return revisions.sort((one, other) => other.revision - one.revision);
    },
  });
}

/** How often people agreed with each revision of a profile. */
export function profileAgreementQuery(presage: Presage, publicId: string) {
  return queryOptions({
    queryKey: [...profilesQueryKey, "agreement", publicId],
    queryFn: async ({ signal }) => (await presage.profiles.agreement(publicId, { signal })).revisions,
  });
}

/** The verdicts of a profile that people reversed, latest first. */
export function disagreementsQuery(presage: Presage, publicId: string) {
  return queryOptions({
    queryKey: [...profilesQueryKey, "disagreements", publicId],
    queryFn: ({ signal }) => presage.profiles.disagreements(publicId, { limit: 200 }, { signal }),
  });
}

/** The totals of each evaluator with every revision of a profile: of direct evaluations, or separately for each run. */
export function profileFiguresQuery(presage: Presage, publicId: string, has_run = false) {
  return queryOptions({
    queryKey: [...profilesQueryKey, "figures", publicId, has_run],
    queryFn: async ({ signal }) => {
      const request = { ...ofDirect, has_run, evaluator_profile_public_id: publicId };
      return (await presage.results.summarise(request, { signal })).groups;
    },
  });
}

type ProfileToSave =
  | { publicId?: undefined; request: EvaluatorProfileCreateRequest }
  | { publicId: string; request: EvaluatorProfileRevisionRequest };

/** Creates a profile, or revises the one with `publicId`. */
export function useSaveProfile({ onSuccess }: { onSuccess(): void }) {
  return useChange(
    profilesQueryKey,
    (presage, { publicId, request }: ProfileToSave) =>
      publicId === undefined ? presage.profiles.create(request) : presage.profiles.revise(publicId, request),
    onSuccess,
  );
}

export function useArchiveProfile(publicId: string) {
  return useChange(profilesQueryKey, (presage) => presage.profiles.archive(publicId));
}

function listProfiles(
  presage: Presage,
  filter: EvaluatorProfileFilter,
  signal: AbortSignal,
): Promise<EvaluatorProfile[]> {
  return listAll(pageSize, (page) => presage.profiles.list({ ...filter, ...page }, { signal }));
}
