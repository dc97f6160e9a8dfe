import type {
  ListedPrediction,
  LivePredictionFilter,
  Model,
  Prediction,
  Presage,
  StoredPredictionFilter,
  WorldModelRequest,
  WorldPreview,
} from "@presage/sdk";
import {
  keepPreviousData,
  queryOptions,
  skipToken,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { pagedQuery, usePresage } from "./client.ts";
import { referenceOf } from "./worlds.ts";

export function deploymentsQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["deployments"],
    queryFn: ({ signal }) => presage.deployments.list({ signal }),
    staleTime: 5_000,
  });
}

export function modelsQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["models"],
    queryFn: ({ signal }) => presage.models.list({ signal }),
    staleTime: 60_000,
  });
}

/** Whether this is the built-in sandbox rather than a language model. */
export function isSandbox({ owned_by, description }: Model): boolean {
  return owned_by === "presage" && typeof description === "string" && description.includes("simulator");
}

/** A request, and the deployment that it names. Undefined: the default deployment answers. */
export interface PredictionRequest {
  request: WorldModelRequest;
  deployment: string | undefined;
}

export interface Predicted {
  prediction: Prediction;
  /** Only through a world: the prompt that was sent, with the texts of its examples. */
  preview: WorldPreview | undefined;
  headers: Headers;
}

/** Requests one prediction at a time. Leaving the page cancels it. */
export function usePredict(onSuccess?: (predicted: Predicted, asked: PredictionRequest) => void) {
  const presage = usePresage();
  const call = useRef<AbortController>(undefined);
  useEffect(() => () => call.current?.abort(), []);

  const mutation = useMutation({
    mutationFn: async ({ request, deployment }: PredictionRequest): Promise<Predicted> => {
      call.current = new AbortController();
      const { signal } = call.current;
      let headers = new Headers();
      const prediction = await presage.predict(request, {
        signal,
        deployment,
        onResponse: (response) => {
          headers = response.headers;
        },
      });
      const { context, interaction, exclude, history } = request;
      const preview =
        prediction.world &&
        // The answer is worth more than its explanation.
        (await presage.worlds
          .preview(referenceOf(prediction.world), { context, interaction, exclude, history }, { signal })
          .catch(() => undefined));
      return { prediction, preview, headers };
    },
    ...(onSuccess && { onSuccess }),
  });
  return { ...mutation, cancel: () => call.current?.abort() };
}

export interface Timing {
  /** As measured by the server. */
  totalMs: number;
  /** The model's share; undefined if no model was called. */
  upstreamMs: number | undefined;
}

/** Parses a `Server-Timing` header; undefined without a total. */
export function readTiming(header: string | null): Timing | undefined {
  const durations = new Map<string, number>();
  for (const entry of header?.split(",") ?? []) {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim());
    const duration = parameters.find((parameter) => parameter.startsWith("dur="))?.slice("dur=".length);
    if (duration !== undefined && Number.isFinite(Number(duration))) durations.set(name, Number(duration));
  }
  const totalMs = durations.get("total");
  return totalMs === undefined ? undefined : { totalMs, upstreamMs: durations.get("upstream") };
}

/** State that outlives its page, until the tab is reloaded. It cannot be undefined, since the cache does not store that. */
export function useTabState<State>(
  name: string,
  initial: State,
): [State, (change: (state: State) => State) => void] {
  const queryClient = useQueryClient();
  const queryKey = ["kept state", name];
  const { data = initial } = useQuery({
    queryKey,
    queryFn: skipToken,
    initialData: initial,
    gcTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  });
  return [data, (change) => queryClient.setQueryData<State>(queryKey, (state = initial) => change(state))];
}

const listKey = ["stored predictions"];
const pageSize = 100;
const excerptCharacters = 200;
const freshForMs = 30_000;
/** Short, so that opening hundreds of predictions keeps only the last ones in memory. */
const detailCacheMs = 30_000;

/** Matching predictions, page by page. Loaded pages are not loaded again, so that rows stay where they are. */
export function storedPredictionsQuery(
  presage: Presage,
  filter: StoredPredictionFilter,
  order: "newest" | "oldest",
) {
  return {
    ...pagedQuery([...listKey, "pages", filter, order], async ({ after, signal }) => {
      const page = { order, limit: pageSize, after, text_limit: excerptCharacters };
      const { data, next, currency } = await presage.storedPredictions.list(
        { ...filter, ...page },
        { signal },
      );
      return { data: data.map((row): LoggedPrediction => ({ ...row, currency })), next };
    }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: freshForMs,
  };
}

/** A stored prediction with the currency of its cost. */
export type LoggedPrediction = ListedPrediction & { currency: string | null };

export type StoredPredictionCount = Awaited<ReturnType<Presage["storedPredictions"]["count"]>>;

/** The number of matching predictions, up to 10,000. */
export function storedPredictionCountQuery(presage: Presage, filter: StoredPredictionFilter) {
  return queryOptions({
    queryKey: [...listKey, "count", filter],
    queryFn: ({ signal }) => presage.storedPredictions.count(filter, { signal }),
    staleTime: freshForMs,
  });
}

/** The values that the filters can take, with how many predictions have each. */
export function storedPredictionValuesQuery(presage: Presage, filter: StoredPredictionFilter) {
  return queryOptions({
    queryKey: [...listKey, "values", filter],
    queryFn: ({ signal }) => presage.storedPredictions.values(filter, { signal }),
    staleTime: freshForMs,
    placeholderData: keepPreviousData,
  });
}

/** One prediction with its request and answer. */
export function storedPredictionQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: [...listKey, "one", id],
    queryFn: ({ signal }) => presage.storedPredictions.get(id, { signal }),
    gcTime: detailCacheMs,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The cost of a request's prediction, if predictions are stored and models have a price. It is stored soon after the answer. */
export function requestCostQuery(presage: Presage, request_id: string) {
  return queryOptions({
    queryKey: [...listKey, "cost", request_id],
    async queryFn({ signal }) {
      const { data, currency } = await presage.storedPredictions.list(
        { request_id, text_limit: excerptCharacters },
        { signal },
      );
      return { cost: data[0]?.cost ?? null, currency, isStored: data.length > 0 };
    },
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      data?.isStored === false && dataUpdateCount < 4 ? 700 : false,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function useDeletePrediction({ onSuccess }: { onSuccess(): void }) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  const refresh = useRefreshPredictions();
  return useMutation({
    mutationFn: (id: string) => presage.storedPredictions.delete(id),
    onSuccess(_, id) {
      onSuccess();
      queryClient.removeQueries({ queryKey: [...listKey, "one", id] });
      refresh();
    },
  });
}

/** Deletes matching predictions of live traffic that are older than a given time. */
export function useDeletePredictions({ onSuccess }: { onSuccess(deleted: number): void }) {
  const presage = usePresage();
  const refresh = useRefreshPredictions();
  return useMutation({
    mutationFn: ({ before, filter }: { before: string; filter: LivePredictionFilter }) =>
      presage.storedPredictions.deleteLive(before, { filter }),
    onSuccess,
    onSettled: refresh,
  });
}

/** Reloads lists and counts from the start. */
export function useRefreshPredictions(): () => void {
  const queryClient = useQueryClient();
  return () => {
    void queryClient.resetQueries({ queryKey: [...listKey, "pages"] });
    void queryClient.invalidateQueries({ queryKey: [...listKey, "count"] });
    void queryClient.invalidateQueries({ queryKey: [...listKey, "values"] });
  };
}
