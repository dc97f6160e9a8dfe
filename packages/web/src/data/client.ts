import { createPresage, type Presage, PresageError } from "@presage/sdk";
import {
  infiniteQueryOptions,
  MutationCache,
  notifyManager,
  type Query,
  QueryCache,
  QueryClient,
  type QueryKey,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { createContext, use } from "react";
import { csrfToken, goToSignIn, signOutKey } from "../session.ts";

export const PresageContext = createContext<Presage | undefined>(undefined);

export function usePresage(): Presage {
  const presage = use(PresageContext);
  if (presage === undefined) throw new Error("usePresage needs a PresageContext above it.");
  return presage;
}

const freshForMs = 15_000;
/** How often a page retries a server that could not be reached. */
const reconnectMs = 5_000;

/** The API client and the query cache. */
export function createDataClients(): { presage: Presage; queryClient: QueryClient } {
  const presage = createPresage({
    csrfToken,
    // A task for each read: a page begins several at once, after it has drawn what waits for them. What is changed is sent at once,
    // as the page may be left in the next moment.
    async fetch(url, init) {
      if (init?.method === "GET") await new Promise((resolve) => setTimeout(resolve));
      return await fetch(url, init);
    },
  });
  // Not in a separate task: a second Enter must already find the button busy.
  notifyManager.setScheduler(queueMicrotask);
  function leaveWhenSignedOut(error: unknown): void {
    if (!(error instanceof PresageError) || error.category !== "unauthenticated") return;
    // A request that starts during sign-out is refused too, and the tab is leaving already.
    const signOut = queryClient.getMutationCache().find({ mutationKey: signOutKey });
    if (signOut === undefined || signOut.state.status === "error") goToSignIn();
  }
  const queryClient = new QueryClient({
    queryCache: new QueryCache({ onError: leaveWhenSignedOut }),
    mutationCache: new MutationCache({
      onError: leaveWhenSignedOut,
      // The palette must find whatever was just created, renamed or deleted.
      onSettled: () => void queryClient.invalidateQueries({ queryKey: ["palette", "recent"] }),
    }),
    defaultOptions: {
      // The client itself retries where that is safe. Always online: an offline browser still reaches a server on the
      // same machine, and other requests should fail visibly instead of waiting.
      queries: {
        retry: false,
        staleTime: freshForMs,
        networkMode: "always",
        refetchInterval: retryWhenUnreachable,
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
  return { presage, queryClient };
}

/** Pages recover by themselves once the server is back. */
function retryWhenUnreachable({ state: { error } }: { state: { error: unknown } }): number | false {
  return error instanceof PresageError && error.category === "connection" ? reconnectMs : false;
}

/** Like `retryWhenUnreachable`, but also refreshes while the data require it: a query's `refetchInterval` replaces the default. */
export function refreshWhile<Data>(interval: (data: Data | undefined) => number | false) {
  return ({ state }: { state: Pick<Query<Data>["state"], "data" | "error"> }): number | false =>
    retryWhenUnreachable({ state }) || interval(state.data);
}

interface QueryState {
  error: unknown;
  isError: boolean;
  refetch(): unknown;
}

/** The error of the first failed query, and a retry of all failed ones; undefined if none failed. */
export function findQueryError(
  queries: readonly QueryState[],
): { error: unknown; retry(): void } | undefined {
  const failed = queries.filter(({ isError }) => isError);
  const [first] = failed;
  return (
    first && {
      error: first.error,
      retry() {
        for (const query of failed) void query.refetch();
      },
    }
  );
}

/** Whether the resource in the URL does not exist or its id is malformed. */
export function isNotFound(error: unknown): boolean {
  return error instanceof PresageError && (error.category === "not_found" || error.category === "invalid");
}

/** The items of a list that the server returns page by page, each page with a reference to the next. */
export function pagedQuery<Item>(
  queryKey: QueryKey,
  readPage: (page: { after: string | undefined; signal: AbortSignal }) => Promise<Page<Item>>,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) => readPage({ after: pageParam, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    select: flattenPages<Item>,
  });
}

interface Page<Item> {
  data: Item[];
  next: string | null;
}

/** A named function rather than an inline one, so that it runs only when the pages change. */
function flattenPages<Item>({ pages }: { pages: readonly Page<Item>[] }): Item[] {
  return pages.flatMap(({ data }) => data);
}

/** Reads a paged list completely. If a page is too large for one response, requests smaller pages. */
export async function listAll<Item>(
  pageSize: number,
  readPage: (page: { limit: number; offset: number }) => Promise<Item[]>,
): Promise<Item[]> {
  const all: Item[] = [];
  let limit = pageSize;
  while (true) {
    let page: Item[];
    try {
      page = await readPage({ limit, offset: all.length });
    } catch (error) {
      if (limit === 1 || !(error instanceof PresageError) || error.category !== "too_large") throw error;
      limit = Math.ceil(limit / 2);
      continue;
    }
    all.push(...page);
    if (page.length < limit) return all;
  }
}

/** Changes something, then reloads everything under `queryKey`. */
export function useChange<Result, Variables = void>(
  queryKey: QueryKey,
  change: (presage: Presage, variables: Variables) => Promise<Result>,
  onSuccess?: () => void,
) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (variables: Variables) => change(presage, variables),
    onSuccess: () => {
      onSuccess?.();
      return queryClient.invalidateQueries({ queryKey });
    },
    // Some of the change may have been made.
    onError: () => void queryClient.invalidateQueries({ queryKey }),
  });
}
