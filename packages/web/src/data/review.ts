import type { LabelRequest, Presage, ReviewQueueResponse, ReviewRequest } from "@presage/sdk";
import { queryOptions, useQueryClient } from "@tanstack/react-query";
import { signedInUserId } from "../session.ts";
import { usePresage } from "./client.ts";
import { profilesQueryKey } from "./evaluators.ts";
import { replaceResult, resultQuery, summaryKey } from "./results.ts";
import { agreementKey } from "./runs.ts";
import { byRate, sortRates } from "./summaries.ts";

export const queueSize = 50;

/** A sample of verdicts that was drawn from a run. */
export interface Drawn {
  run: string;
  id: string;
}

/** The results to label. They are reloaded only when the user asks for more, so that the list does not change under the reader. */
export function reviewQueueQuery(presage: Presage, request: ReviewRequest | Drawn, round: number) {
  return queryOptions({
    queryKey: ["review", request, round],
    queryFn: ({ signal }) =>
      "run" in request
        ? drawnQueue(presage, request, signal)
        : presage.results.reviewQueue({ ...request, limit: queueSize }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

/** The verdicts drawn from a run that have no label yet, as a queue. */
async function drawnQueue(
  presage: Presage,
  { run, id }: Drawn,
  signal: AbortSignal,
): Promise<ReviewQueueResponse> {
  const drawn = (await presage.labels.listDrawn(run, { signal })).find((one) => one.id === id);
  const all = drawn?.data ?? [];
  const left = all.filter(({ labelled }) => !labelled);
  return {
    considered: all.length,
    has_more: false,
    reviewed: all.length - left.length,
    data: left.map(({ result_id }) => ({
      id: result_id,
      reason: "drawn",
      distance: null,
      evaluators: null,
      repeats: null,
    })),
  };
}

/** Every evaluator and profile with results, most used first, without intervals. */
export function usedRatesQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["summaries", "used"],
    async queryFn({ signal }) {
      const request = { group_by: [...byRate], intervals: false };
      return sortRates((await presage.results.summarise(request, { signal })).groups);
    },
    staleTime: 60_000,
  });
}

/** The signed-in user's label of a result; null if there is none. */
export type OwnLabel = Pick<LabelRequest, "label" | "score">;

export function useFindOwnLabel(): (id: string) => Promise<OwnLabel> {
  const presage = usePresage();
  return async (id) => {
    const { data } = await presage.labels.list(id);
    const own = data.find(({ user_id }) => user_id === signedInUserId());
    return own === undefined ? { label: null } : { label: own.label, score: own.score };
  };
}

/** Gives a label, or removes it. Figures elsewhere are reloaded when they are next shown, not after each label. */
export function useGiveLabel(): (id: string, label: OwnLabel) => Promise<void> {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return async (id, label) => {
    const { correction } = await presage.labels.give(id, label);
    const known = queryClient.getQueryData(resultQuery(presage, id).queryKey);
    if (known !== undefined) replaceResult(queryClient, { ...known, correction });
    void queryClient.invalidateQueries({ queryKey: agreementKey });
    for (const queryKey of [summaryKey, ["summaries"], ["runs", "one"], ["comparisons"]])
      void queryClient.invalidateQueries({ queryKey, refetchType: "none" });
    void queryClient.invalidateQueries({ queryKey: profilesQueryKey });
  };
}
