import { RealEnvironmentListResponse, type RealEnvironmentStatus } from "@presage/contract";
import { response } from "../../http/describe.ts";
import { reply, route } from "../../http/route.ts";
import { toIsoInstant } from "../../platform/storage/columns.ts";
import type { RealEnvironment, RealEnvironments } from "./real-environment.ts";

const listRealEnvironments = route("GET", "/v1/real-environments", {
  needs: "read",
  id: "listRealEnvironments",
  summary: "List the real environments",
  description:
    "Lists the real environments that the operator of the server has declared, as the answering process sees them.",
  responses: {
    "200": response("The real environments", RealEnvironmentListResponse, {
      data: [
        {
          name: "scienceworld",
          protocol: "openenv",
          in_flight: 2,
          max_in_flight: 4,
          last_failure: {
            at: "2026-11-28T09:12:44.120Z",
            category: "timeout",
            message: "The real environment did not answer within 30000 ms.",
          },
        },
      ],
    }),
  },
  async handle({ realEnvironments }: { realEnvironments: RealEnvironments }) {
    return reply(200, { data: realEnvironments.all().map(toStatus) });
  },
});

export const realEnvironmentRoutes = [listRealEnvironments];

function toStatus(environment: RealEnvironment): RealEnvironmentStatus {
  const { name, protocol, maxInFlight } = environment;
  const failure = environment.lastFailure();
  return {
    name,
    protocol,
    in_flight: environment.inFlight(),
    max_in_flight: maxInFlight,
    last_failure: failure === undefined ? null : { ...failure, at: toIsoInstant(failure.at) },
  };
}
