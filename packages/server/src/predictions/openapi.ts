import { DeploymentListResponse } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { operation, response } from "../http/describe.ts";

export const deploymentPaths: ZodOpenApiPathsObject = {
  "/v1/deployments": {
    get: operation("listDeployments", "prediction", "List the deployments and their replicas", {
      description:
        "Lists the models behind this server and, for the account `default`, the state of each replica as the answering process sees it.",
      responses: {
        "200": response("The deployments", DeploymentListResponse, {
          data: [
            {
              name: "default",
              model: "Qwen/Qwen3-8B-wm",
              is_default: true,
              state: "up",
              error_rate: 0.0201,
              process_id: 4021,
              replicas: [
                {
                  url: "http://10.0.0.1:30000/v1",
                  state: "up",
                  in_flight: 61,
                  limit: null,
                  ejections: 1,
                  last_failure: { at: "2026-01-31T12:00:00.000Z", category: "unavailable" },
                  recent: { calls: 1_840, failed: 37 },
                  latency_ms: { p50: 212.4, p99: 941.7 },
                  prefix_share: 0.97,
                },
              ],
            },
          ],
        }),
      },
    }),
  },
};
