import type { Call } from "./route.ts";

/**
 * A connection without any traffic for this long is closed. So is one whose body arrives too slowly: Bun restarts this time
 * only with each 16 KB for every second of it.
 */
export const idleTimeoutS = 30;

/**
 * Keeps the connection open while a client waits for its response, however long: the upstream, threads, the store and the queues
 * before them have deadlines of their own. Called only once the body, which has to arrive in time, is complete.
 */
export function keepOpen({ server, request }: Pick<Call, "server" | "request">): void {
  server.timeout(request, 0);
}

/** Restores the usual limit when it is the client's turn. Bun would keep the other for the rest of the connection. */
export function closeWhenIdle({ server, request }: Pick<Call, "server" | "request">): void {
  server.timeout(request, idleTimeoutS);
}

/** The same texts. While one is made, the client waits for the server; in between, the server waits for the client. */
export async function* keepOpenForEach(
  call: Pick<Call, "server" | "request">,
  texts: AsyncGenerator<string, void>,
): AsyncGenerator<string, void> {
  try {
    for (;;) {
      keepOpen(call);
      const { done, value } = await texts.next().finally(() => closeWhenIdle(call));
      if (done) return;
      yield value;
    }
  } finally {
    await texts.return();
  }
}
