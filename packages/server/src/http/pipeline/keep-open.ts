import type { Call } from "./route.ts";

/**
 * A connection on which nothing moves for this long is closed. So is one whose body comes too slowly: Bun begins this time
 * anew only with each 16 KB for every second of it.
 */
export const idleTimeoutS = 30;

/**
 * Keeps the connection of a caller who waits for us, however long: the upstream, threads, the store and the queues before them
 * have deadlines of their own, one after the other, and end in an answer. Not before its body is there, which has to come in time.
 */
export function keepOpen({ server, request }: Pick<Call, "server" | "request">): void {
  server.timeout(request, 0);
}

/** The usual limit again, for a caller whose turn it is. Bun remembers the other one for as long as the connection lives. */
export function closeWhenIdle({ server, request }: Pick<Call, "server" | "request">): void {
  server.timeout(request, idleTimeoutS);
}

/** The same texts of an answer. While one is read the caller waits for us, and in between we wait for the caller. */
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
