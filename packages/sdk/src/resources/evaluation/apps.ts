import type { AppListResponse } from "@presage/contract";
import type { CallOptions } from "../../call.ts";
import { listAllPages } from "../../paging/list-all-pages.ts";
import type { Transport } from "../../transport.ts";

export interface Apps {
  /** Lists all apps that have results, by name, over all pages: `GET /v1/apps`. */
  list(options?: CallOptions): Promise<AppListResponse["apps"]>;
}

export function apps({ json }: Transport): Apps {
  return {
    list: (options) =>
      listAllPages(async (query) => {
        const call = { method: "GET", path: "/v1/apps", query } as const;
        const { apps, next } = await json<AppListResponse>(call, options);
        return { data: apps, next };
      }),
  };
}
