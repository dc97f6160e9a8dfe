import type { DeploymentListResponse, DeploymentStatus } from "@presage/contract";
import type { CallOptions } from "../call.ts";
import type { Transport } from "../transport.ts";

export interface Deployments {
  /** Lists the models behind the server and, for the account `default`, their replicas: `GET /v1/deployments`. */
  list(options?: CallOptions): Promise<DeploymentStatus[]>;
}

export function deployments({ json }: Transport): Deployments {
  return {
    async list(options) {
      return (await json<DeploymentListResponse>({ method: "GET", path: "/v1/deployments" }, options)).data;
    },
  };
}
