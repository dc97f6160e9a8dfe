import { type Answer, completion } from "./upstream.ts";

/** Answers like a server with one slot: each call takes this long, and the next ones wait. A client that disconnects frees the slot. */
export function oneAtATime(ms: number): Answer {
  let last = Promise.resolve();
  return async (_, { signal }) => {
    const before = last;
    const turn = Promise.withResolvers<void>();
    last = turn.promise;
    await before;
    for (let waitedMs = 0; waitedMs < ms && !signal.aborted; waitedMs += 10) await Bun.sleep(10);
    turn.resolve();
    return Response.json(completion("next"));
  };
}
