import type { Presage, ReviewRequest } from "@presage/sdk";
import { queryOptions, useQueryClient } from "@tanstack/react-query";
import { usePresage } from "./client.ts";
import { profilesQueryKey } from "./evaluators.ts";
import { replaceResult, summaryKey } from "./results.ts";
import { byRate, sortRates } from "./summaries.ts";

const queueSize = 50;

/** What to review. It is loaded again only when the user asks for more, so that it does not change under the reader. */
export function reviewQueueQuery(presage: Presage, request: ReviewRequest, round: number) {
  return queryOptions({
    queryKey: ["review", request, round],
    queryFn: ({ signal }) => presage.results.reviewQueue({ ...request, limit: queueSize }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

/** Every evaluator and profile with results, the most used first, without intervals. */
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

export interface Verdicts {
  give(id: string, pass: boolean): Promise<void>;
  takeBack(id: string): Promise<void>;
}

/** Sends verdicts on results. Figures are loaded again when they are next looked at, not after each verdict. */
export function useVerdicts(): Verdicts {
  const presage = usePresage();
  const queryClient = useQueryClient();
  async function settle(changed: Promise<Parameters<typeof replaceResult>[1]>): Promise<void> {
    replaceResult(queryClient, await changed);
    void queryClient.invalidateQueries({ queryKey: summaryKey, refetchType: "none" });
    void queryClient.invalidateQueries({ queryKey: ["summaries"], refetchType: "none" });
    void queryClient.invalidateQueries({ queryKey: profilesQueryKey });
  }
  return {
    give: (id, pass) => settle(presage.results.correct(id, { pass })),
    takeBack: (id) => settle(presage.results.withdrawCorrection(id)),
  };
}
