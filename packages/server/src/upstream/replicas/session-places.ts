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
}

export function createSessionPlaces<Replica extends Candidate>(
  all: readonly Replica[],
): SessionPlaces<Replica> {
  const moved = new Map<number, Replica>();

  function remember(key: number, replica: Replica): void {
    // At the end, as the latest.
    moved.delete(key);
    moved.set(key, replica);
    const [oldest] = moved.size > maxMoved ? moved.keys() : [];
    if (oldest !== undefined) moved.delete(oldest);
  }

  return {
    choose(candidates, key) {
      const movedTo = moved.get(key);
      const replica = chooseReplica(candidates, key, movedTo);
      const isPreferred = replica === findPreferred(all, key);
      if (isPreferred) moved.delete(key);
      else if (replica !== undefined) remember(key, replica);
      return { replica, hasPrefix: isPreferred || replica === movedTo };
    },
  };
}
