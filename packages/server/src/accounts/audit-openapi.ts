import { AuditEventListQuery, AuditEventListResponse } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { operation, response } from "../http/describe.ts";

export const auditEventPaths: ZodOpenApiPathsObject = {
  "/v1/audit-events": {
    get: operation("listAuditEvents", "dashboard", "List who changed what", {
      description:
        "Lists the changes in the caller's account through the API, the dashboard or the command line: who changed what, and when. For owners. Predictions, evaluations and steps of episodes are recorded elsewhere.",
      requestParams: { query: AuditEventListQuery },
      responses: {
        "200": response("The events, newest first", AuditEventListResponse, {
          data: [
            {
              id: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a60",
              created_at: "2026-11-22T03:46:47.926Z",
              action: "api_key.create",
              object_id: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59",
              actor: {
                kind: "session",
                user_id: "01a2015d-17ca-76a5-aa4f-c26a65d9cd6e",
                email: "sam@example.com",
                id: "01a2015d-17cc-778e-bb65-bb9788f05399",
                name: null,
              },
              request_id: "6d3f2a4e-5a53-4b1f-9a55-6a5a1c0e9f11",
              detail: { name: "training cluster", scopes: ["predict"] },
              names: {
                "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59": "training cluster",
                "01a2015d-17ca-76a5-aa4f-c26a65d9cd6e": "Sam",
              },
            },
          ],
          next: null,
        }),
      },
    }),
  },
};
