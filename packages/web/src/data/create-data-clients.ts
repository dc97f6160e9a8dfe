import { createPresage, type Presage, PresageError } from "@presage/sdk";
import { MutationCache, notifyManager, type Query, QueryCache, QueryClient } from "@tanstack/react-query";
import { goToSignIn, signOutKey } from "../session/sign-out.ts";
import { csrfToken } from "./csrf-token.ts";

const freshForMs = 15_000;
/** How often a page retries a server that could not be reached. */
const reconnectMs = 5_000;

/** The API client and the query cache. */
export function createDataClients(): { presage: Presage; queryClient: QueryClient } {
  const presage = createPresage({ csrfToken });
  // Not in a separate task: a second Enter must already find the button busy.
  notifyManager.setScheduler(queueMicrotask);
  function leaveWhenSignedOut(error: unknown): void {
    if (!(error instanceof PresageError) || error.category !== "unauthenticated") return;
    // A request that began while this tab signs out is refused too, and the tab is leaving already.
    const signOut = queryClient.getMutationCache().find({ mutationKey: signOutKey });
    if (signOut === undefined || signOut.state.status === "error") goToSignIn();
  }
  const queryClient = new QueryClient({
    queryCache: new QueryCache({ onError: leaveWhenSignedOut }),
    mutationCache: new MutationCache({ onError: leaveWhenSignedOut }),
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
function retryWhenUnreachable({ state: { error } }: Pick<Query, "state">): number | false {
  return error instanceof PresageError && error.category === "connection" ? reconnectMs : false;
}
