import type { Model, ModelListResponse } from "@presage/contract";
import type { CallOptions } from "../call.ts";
import type { Transport } from "../transport.ts";

export interface Models {
  /** Lists the upstream's models: `GET /v1/models`. */
  list(options?: CallOptions): Promise<Model[]>;
}

export function models({ json }: Transport): Models {
  return {
    async list(options) {
      const call = { method: "GET", path: "/v1/models", isRepeatable: true } as const;
      return (await json<ModelListResponse>(call, options)).data;
    },
  };
}
