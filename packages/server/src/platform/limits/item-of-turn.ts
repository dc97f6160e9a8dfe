import { setImmediate as nextTurn } from "node:timers/promises";

/** Far more than arrives in one turn from clients that wait for answers; they take a few milliseconds. */
const maxItems = 64;

let items = 0;

/**
 * Counts a request, message or piece of a body that is handled in this turn of the event loop. Bun hands over all that it has read from
 * a socket, up to 512 KB, in one turn: what needs no other turn would keep everyone else waiting until all of it is handled. So from the
 * 65th item on this returns a promise of the next turn, to be awaited before the item is handled.
 */
export function itemOfTurn(): Promise<void> | undefined {
  items += 1;
  if (items === 1) setImmediate(startTurn);
  return items > maxItems ? nextTurn() : undefined;
}

function startTurn(): void {
  items = 0;
}
