/** Recent requests, to know which were in flight when something else failed. */
export interface RecentRequests {
  /** Records the start of a request; the returned function records its end. */
  begin(what: string): () => void;
  /** The requests in flight between two times in milliseconds since 1970, one per line. */
  inFlight(from: number, to: number): string;
}

const kept = 500;

export function createRecentRequests(): RecentRequests {
  const requests: { what: string; from: number; to: number }[] = [];
  return {
    begin(what) {
      const request = { what, from: Date.now(), to: Number.POSITIVE_INFINITY };
      requests.push(request);
      if (requests.length > kept) requests.shift();
      return () => {
        request.to = Date.now();
      };
    },
    inFlight(from, to) {
      const then = requests.filter((request) => request.from <= to && request.to >= from);
      return then
        .map(
          ({ what, from, to }) =>
            `${what}, ${to === Number.POSITIVE_INFINITY ? "not finished" : `${to - from} ms`}`,
        )
        .join("\n");
    },
  };
}
