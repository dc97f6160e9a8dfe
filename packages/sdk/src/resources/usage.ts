import type { LatencyQuery, LatencyResponse, UsageQuery, UsageResponse } from "@presage/contract";
import type { CallOptions } from "../call.ts";
import type { Transport } from "../transport.ts";

export interface Usage {
  /** Gets requests and tokens by key and time, up to date within about 10 s: `GET /v1/usage`. */
  list(query?: UsageQuery, options?: CallOptions): Promise<UsageResponse>;
  /** Gets latencies of predictions in milliseconds: `GET /v1/usage/latency`. */
  latency(query?: LatencyQuery, options?: CallOptions): Promise<LatencyResponse>;
}

const path = "/v1/usage";

export function usage({ json }: Transport): Usage {
  return {
    list: (query, options) => json({ method: "GET", path, query: { ...query } }, options),
    latency: (query, options) =>
      json({ method: "GET", path: `${path}/latency`, query: { ...query } }, options),
  };
}
