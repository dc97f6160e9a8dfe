/** What was sent lately, to tell what was under way when something else went wrong. */
export interface RecentRequests {
  /** Notes the beginning of a request; what it returns notes its end. */
  begin(what: string): () => void;
  /** The requests under way between two times in milliseconds since 1970, a line each. */
  underWay(from: number, to: number): string;
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
    underWay(from, to) {
      const then = requests.filter((request) => request.from <= to && request.to >= from);
      return then
        .map(
          ({ what, from, to }) =>
            `${what}, ${to === Number.POSITIVE_INFINITY ? "not over" : `${to - from} ms`}`,
        )
        .join("\n");
    },
  };
}
