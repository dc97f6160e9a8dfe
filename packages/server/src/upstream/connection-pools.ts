/** Bun keeps this many idle connections: for all plain HTTP of a process together, and for each TLS configuration. */
const idleOfPool = 64;
/** For one URL. Bun forgets TLS configurations beyond some sixty, with their connections. */
const maxPools = 32;

/** Connections that a call may use again, and that wait for others when it has ended. */
export interface ConnectionPool {
  /** Absent: Bun's own pool. */
  readonly session: Bun.FetchSession | undefined;
  inFlight: number;
}

/**
 * Keeps more connections to an https URL than Bun does by itself: each 64 calls in flight have a pool of their own. A new connection with its
 * handshake costs ten times a call on a kept one (docs/decisions/0023-workers.md). The first pool is Bun's, which `sharedBy` URLs share.
 */
export function createConnectionPools(url: string, sharedBy: number): { take(): ConnectionPool } | undefined {
  if (!url.startsWith("https:")) return undefined;
  const pools: ConnectionPool[] = [];
  const roomIn = (index: number) => (index === 0 ? Math.floor(idleOfPool / sharedBy) : idleOfPool);

  function add(): ConnectionPool {
    const session = pools.length === 0 ? undefined : createSession(url, pools.length);
    const pool = { session, inFlight: 0 };
    pools.push(pool);
    return pool;
  }

  return {
    take() {
      const pool =
        pools.find(({ inFlight }, index) => inFlight < roomIn(index)) ??
        (pools.length < maxPools ? add() : leastUsed(pools));
      pool.inFlight += 1;
      return pool;
    },
  };
}

function leastUsed(pools: readonly ConnectionPool[]): ConnectionPool {
  return pools.reduce((least, pool) => (pool.inFlight < least.inFlight ? pool : least));
}

/** A session shares its connections with all that have the same TLS configuration, so this one's differs where it has no effect. */
function createSession(url: string, index: number): Bun.FetchSession {
  // How long a server remembers a TLS session; in seconds, above the default of 300.
  const sessionTimeout = 301 + (Bun.hash.crc32(url) % 1_000_000) * maxPools + index;
  return new Bun.FetchSession({ tls: { sessionTimeout } as BunFetchRequestInitTLS });
}
