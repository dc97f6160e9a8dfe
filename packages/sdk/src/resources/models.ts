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
      return (await json<ModelListResponse>({ method: "GET", path: "/v1/models" }, options)).data;
    },
  };
}
