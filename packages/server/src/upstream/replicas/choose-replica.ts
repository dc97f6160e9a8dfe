import type { AverageLatency } from "./latency-window.ts";

/** A replica may hold this multiple of its even share of all requests in flight. */
const maxShare = 1.25;
const maxSlowness = 10;
/** Less is chance: it would drive sessions away from where their prefix is. */
const minSlowness = 1.25;

/** More than any load. */
const overLimit = 1e9;

/** A replica that may be asked. */
export interface Candidate {
  /** The same for a replica in every process, so that all of them choose alike. */
  readonly seed: number;
  readonly inFlight: number;
  /** How many requests in flight it takes, as far as its 429s tell. */
  readonly limit: number;
  /** How many it may have in any case. */
  readonly maxInFlight: number;
  /** From 1 for a usual latency to 10; see `slownessOf`. */
  readonly slowness: number;
}

/**
 * Rendezvous hashing with bounded loads: of the replicas with room, the one that ranks highest for the key. Without any such
 * replica, the one with the least load; undefined if all have as many requests as they may.
 */
export function chooseReplica<Chosen extends Candidate>(
  candidates: readonly Chosen[],
  key: number,
): Chosen | undefined {
  let inFlight = 0;
  for (const candidate of candidates) inFlight += candidate.inFlight;
  const bound = Math.ceil((maxShare * (inFlight + 1)) / candidates.length);

  let rankWithRoom = -1;
  let withRoom: Chosen | undefined;
  let leastLoad = Number.POSITIVE_INFINITY;
  let leastLoaded: Chosen | undefined;
  for (const candidate of candidates) {
    if (candidate.inFlight >= candidate.maxInFlight) continue;
    const load = candidate.inFlight * candidate.slowness;
    const rank = rankOf(candidate, key);
    if (load < bound && candidate.inFlight < candidate.limit && rank > rankWithRoom) {
      rankWithRoom = rank;
      withRoom = candidate;
    }
    // One above its limit comes last.
    const lastResort = candidate.inFlight < candidate.limit ? load : load + overLimit;
    if (lastResort < leastLoad) {
      leastLoad = lastResort;
      leastLoaded = candidate;
    }
  }
  return withRoom ?? leastLoaded;
}

/** The replica that the key comes to unless that is full or out, so that it has most likely seen the prefix before. */
export function findPreferred<Chosen extends Candidate>(
  replicas: readonly Chosen[],
  key: number,
): Chosen | undefined {
  let highestRank = -1;
  let preferred: Chosen | undefined;
  for (const replica of replicas) {
    const rank = rankOf(replica, key);
    if (rank > highestRank) {
      highestRank = rank;
      preferred = replica;
    }
  }
  return preferred;
}

/**
 * How slow each replica is: its latency over the median of those that have one, from 1 to 10, and 1 below 1.25. Where requests wait
 * for each other, one with more of them takes longer without being slow. So it counts as slow only as far as its latency over the requests
 * that it held is above the median too.
 */
export function slownessOf(latencies: readonly (AverageLatency | undefined)[]): number[] {
  const medianMs = medianOf(latencies.map((latency) => latency?.ms));
  const medianPerRequest = medianOf(latencies.map((latency) => latency?.msPerRequestHeld));
  return latencies.map((latency) => {
    if (latency === undefined || medianMs === 0 || medianPerRequest === 0) return 1;
    const slowness = Math.min(latency.ms / medianMs, latency.msPerRequestHeld / medianPerRequest);
    return slowness < minSlowness ? 1 : Math.min(maxSlowness, slowness);
  });
}

/** Between two in the middle, the lower. */
function medianOf(values: readonly (number | undefined)[]): number {
  const known = values.filter((value) => value !== undefined).sort((one, other) => one - other);
  return known[(known.length - 1) >> 1] ?? 0;
}

/** The replica's score for the key, of 32 bits: murmur3's finaliser, which changes half of the bits for each bit of its input. */
function rankOf({ seed }: Candidate, key: number): number {
  let mixed = seed ^ key;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
