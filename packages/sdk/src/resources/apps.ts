import type { AppListResponse } from "@presage/contract";
import type { CallOptions } from "../call.ts";
import type { Transport } from "../transport.ts";

export interface Apps {
  /** Every app that has results, by name: `GET /v1/apps`. */
  list(options?: CallOptions): Promise<AppListResponse["apps"]>;
}

export function apps({ json }: Transport): Apps {
  return {
    async list(options) {
      const call = { method: "GET", path: "/v1/apps", isRepeatable: true } as const;
      return (await json<AppListResponse>(call, options)).apps;
    },
  };
}
