/** A replica may hold this multiple of its even share of all requests in flight. */
const maxShare = 1.25;
/** A session that had to move comes back once its replica holds less than this part of its even share. */
const homeShare = 0.8;
const maxSlowness = 10;
/** Smaller differences are chance, and would drive sessions away from where their prefix is. */
const minSlowness = 1.25;

/** More than any load. */
const overLimit = 1e9;

/** A replica that may be asked. */
export interface Candidate {
  /** The same in every process, so that all of them choose alike. */
  readonly seed: number;
  readonly inFlight: number;
  /** How many requests in flight it accepts, judging by its 429s. */
  readonly limit: number;
  /** The configured maximum of requests in flight, whatever its 429s say. */
  readonly maxInFlight: number;
  /** From 1 for a usual latency to 10; see `slownessOf`. */
  readonly slowness: number;
}

/**
 * Rendezvous hashing with bounded loads: of the replicas with room, the one that ranks highest for the key. Without any such
 * replica, the one with the least load; undefined if all have as many requests as they may.
 *
 * `movedTo`, where the key went when its replica was full, has its prefix now: the key stays there while there is room and the
 * better one is not clearly below its share.
 */
export function chooseReplica<Chosen extends Candidate>(
  candidates: readonly Chosen[],
  key: number,
  movedTo?: Chosen,
): Chosen | undefined {
  const evenLoad = evenLoadOf(candidates);
  const bound = Math.ceil(maxShare * evenLoad);

  let rankWithRoom = -1;
  let withRoom: Chosen | undefined;
  let leastLoad = Number.POSITIVE_INFINITY;
  let leastLoaded: Chosen | undefined;
  let mayStay = false;
  for (const candidate of candidates) {
    if (candidate.inFlight >= candidate.maxInFlight) continue;
    const load = loadOf(candidate);
    if (load < bound && candidate.inFlight < candidate.limit) {
      const rank = rankOf(candidate, key);
      if (candidate === movedTo) mayStay = true;
      if (rank > rankWithRoom) {
        rankWithRoom = rank;
        withRoom = candidate;
      }
    }
    // A replica above its limit comes last.
    const lastResort = candidate.inFlight < candidate.limit ? load : load + overLimit;
    if (lastResort < leastLoad) {
      leastLoad = lastResort;
      leastLoaded = candidate;
    }
  }
  if (mayStay && withRoom !== undefined && loadOf(withRoom) >= homeShare * evenLoad) return movedTo;
  return withRoom ?? leastLoaded;
}

function loadOf({ inFlight, slowness }: Candidate): number {
  return inFlight * slowness;
}

/**
 * The load of each replica if all have the same, with one request more than now. Requests that a slow replica, or one whose limit is
 * below an even share, cannot hold are left to the others, which would otherwise count as full.
 */
function evenLoadOf(candidates: readonly Candidate[]): number {
  let requests = 1;
  for (const { inFlight } of candidates) requests += inFlight;
  const evenRequests = requests / candidates.length;
  let capacity = 0;
  for (const { limit, slowness } of candidates) {
    if (limit <= evenRequests) requests -= limit;
    else capacity += 1 / slowness;
  }
  return capacity === 0 ? Number.POSITIVE_INFINITY : requests / capacity;
}

/** The replica that the key's requests go to unless it is full or out, so that it has most likely seen the prefix before. */
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
 * How slow each replica is: its latency over the median, from 1 to 10, and 1 below 1.25. A replica that holds more requests takes
 * longer without being slow, so it counts as slow only as far as its latency over the requests that it held is above the
 * median too.
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

/** The median; of two in the middle, the lower. */
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

const windowLength = 256;
/** The weight of a new latency in the moving average: a few slow responses change little, a slow replica shows within 16. */
const newShare = 1 / 16;

export interface AverageLatency {
  ms: number;
  /** Divided by the requests that the replica held: the time for one request if they wait for each other. */
  msPerRequestHeld: number;
}

/** The latencies of a replica's last responses. */
export type LatencyWindow = ReturnType<typeof createLatencyWindow>;

export function createLatencyWindow() {
  const latest: number[] = [];
  let next = 0;
  let average: AverageLatency | undefined;

  function recordWait(ms: number, held: number): void {
    const msPerRequestHeld = ms / held;
    if (average === undefined) average = { ms, msPerRequestHeld };
    else {
      average.ms += (ms - average.ms) * newShare;
      average.msPerRequestHeld += (msPerRequestHeld - average.msPerRequestHeld) * newShare;
    }
  }

  return {
    /** `held`: how many requests the replica had when this one began, this one included. */
    record(latencyMs: number, held: number): void {
      latest[next] = latencyMs;
      next = (next + 1) % windowLength;
      recordWait(latencyMs, held);
    },
    /** Records a call that ended without a response after this long. It affects the averages, not the percentiles. */
    recordWait,
    /** Moving averages; undefined before the first of these calls. */
    average: (): AverageLatency | undefined => average,
    percentiles(): { p50: number; p99: number } | undefined {
      if (latest.length === 0) return undefined;
      const sorted = latest.toSorted((one, other) => one - other);
      const at = (quantile: number) => sorted[Math.ceil(quantile * sorted.length) - 1] ?? 0;
      return { p50: at(0.5), p99: at(0.99) };
    },
  };
}

/** More than the rollouts of a training run. The least recently used keys are forgotten, which only costs them a cached prefix. */
const maxMoved = 10_000;

export interface Place<Replica> {
  /** Undefined if no candidate may be asked. */
  replica: Replica | undefined;
  /** Whether it has most likely seen the prefix before. */
  hasPrefix: boolean;
}

/**
 * Where the requests of each key go. The preferred replica follows from the key's hash. Only keys whose replica was full or out are
 * remembered, as they would otherwise go back and forth between two replicas and find their prefix at neither.
 */
export function createSessionPlaces<Replica extends Candidate>(all: readonly Replica[]) {
  const moved = new Map<number, Replica>();
  const left = new Map<number, Replica>();

  function remember(places: Map<number, Replica>, key: number, replica: Replica): void {
    // Inserted again at the end, as the latest.
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
    choose(candidates: readonly Replica[], key: number): Place<Replica> {
      const movedTo = moved.get(key);
      const replica = chooseReplica(withoutLeft(candidates, key), key, movedTo);
      const isPreferred = replica === findPreferred(all, key);
      if (isPreferred) moved.delete(key);
      else if (replica !== undefined) remember(moved, key, replica);
      return { replica, hasPrefix: isPreferred || replica === movedTo };
    },
    /** A call of the key timed out there, so its next call goes elsewhere if possible. */
    timedOut: (key: number, replica: Replica): void => remember(left, key, replica),
  };
}

const bucketMs = 15_000;
const buckets = 20;

export type RecentCalls = ReturnType<typeof createRecentCalls>;

/** Counts the calls that ended in the last five minutes, and how many of them the deployment failed. */
export function createRecentCalls(nowMs: () => number) {
  let kept: { bucket: number; calls: number; failed: number }[] = [];
  const latest = () => Math.floor(nowMs() / bucketMs);

  return {
    count(calls: number, failed: number): void {
      const bucket = latest();
      const last = kept.at(-1);
      if (last?.bucket === bucket) {
        last.calls += calls;
        last.failed += failed;
        return;
      }
      kept = [...kept.filter((one) => one.bucket > bucket - buckets), { bucket, calls, failed }];
    },
    read(): { calls: number; failed: number } {
      const recent = kept.filter(({ bucket }) => bucket > latest() - buckets);
      const sum = (name: "calls" | "failed") => recent.reduce((all, one) => all + one[name], 0);
      return { calls: sum("calls"), failed: sum("failed") };
    },
  };
}
