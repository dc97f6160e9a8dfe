import { createPresage, type Presage, PresageError } from "@presage/sdk";
import { MutationCache, notifyManager, type Query, QueryCache, QueryClient } from "@tanstack/react-query";
import { goToSignIn } from "../session/sign-out.ts";

const freshForMs = 15_000;
/** How soon a page looks again for a server that could not be reached. */
const lookAgainAfterMs = 5_000;

/** The client of the server, and the memory of what it answered. */
export function createDataClients(): { presage: Presage; queryClient: QueryClient } {
  const presage = createPresage({ csrfToken });
  // At once, and not in a task of its own: a second Enter must find the button busy already.
  notifyManager.setScheduler(queueMicrotask);
  const queryClient = new QueryClient({
    queryCache: new QueryCache({ onError: leaveWhenSignedOut }),
    mutationCache: new MutationCache({ onError: leaveWhenSignedOut }),
    defaultOptions: {
      // The client itself tries again where that is safe. A browser that believes itself offline still reaches a server on
      // the same machine, and what cannot be reached has to fail: paused calls would wait without a word.
      queries: {
        retry: false,
        staleTime: freshForMs,
        networkMode: "always",
        refetchInterval: soonWhenUnreachable,
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
  return { presage, queryClient };
}

/** A page comes back by itself once the server does. */
function soonWhenUnreachable({ state: { error } }: Pick<Query, "state">): number | false {
  return error instanceof PresageError && error.category === "connection" ? lookAgainAfterMs : false;
}

function csrfToken(): string | undefined {
  return document.querySelector("meta[name=csrf-token]")?.getAttribute("content") ?? undefined;
}

function leaveWhenSignedOut(error: unknown): void {
  if (error instanceof PresageError && error.category === "unauthenticated") goToSignIn();
}
