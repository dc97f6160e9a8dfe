import { type Candidate, chooseReplica, findPreferred } from "./choose-replica.ts";

/** More than a training run has rollouts. The least recently used are forgotten, which costs them a prefix and nothing else. */
const maxMoved = 10_000;

export interface Place<Replica> {
  /** Undefined if no candidate may be asked. */
  replica: Replica | undefined;
  /** Whether it has most likely seen the prefix before. */
  hasPrefix: boolean;
}

/**
 * Where the requests of each key go. What the keys prefer follows from their hashes; remembered are only those whose replica was full or
 * out, as they would otherwise go back and forth between two replicas and find their prefix at neither.
 */
export interface SessionPlaces<Replica> {
  choose(candidates: readonly Replica[], key: number): Place<Replica>;
  /** A call of the key timed out there: its next one goes elsewhere, if it can. */
  timedOut(key: number, replica: Replica): void;
}

export function createSessionPlaces<Replica extends Candidate>(
  all: readonly Replica[],
): SessionPlaces<Replica> {
  const moved = new Map<number, Replica>();
  const left = new Map<number, Replica>();

  function remember(places: Map<number, Replica>, key: number, replica: Replica): void {
    // At the end, as the latest.
    places.delete(key);
    places.set(key, replica);
    const [oldest] = places.size > maxMoved ? places.keys() : [];
    if (oldest !== undefined) places.delete(oldest);
  }

  /** Where the key's next call may go. */
  function withoutLeft(candidates: readonly Replica[], key: number): readonly Replica[] {
    const one = left.get(key);
    if (one === undefined) return candidates;
    left.delete(key);
    const others = candidates.filter((candidate) => candidate !== one);
    return others.length === 0 ? candidates : others;
  }

  return {
    choose(candidates, key) {
      const movedTo = moved.get(key);
      const replica = chooseReplica(withoutLeft(candidates, key), key, movedTo);
      const isPreferred = replica === findPreferred(all, key);
      if (isPreferred) moved.delete(key);
      else if (replica !== undefined) remember(moved, key, replica);
      return { replica, hasPrefix: isPreferred || replica === movedTo };
    },
    timedOut: (key, replica) => remember(left, key, replica),
  };
}
