import { RealEnvironmentListResponse, type RealEnvironmentStatus } from "@presage/contract";
import { response } from "../../http/describe.ts";
import { reply, route } from "../../http/route.ts";
import { toIsoInstant } from "../../platform/storage/columns.ts";
import examples from "../examples.json" with { type: "json" };
import type { RealEnvironment, RealEnvironments } from "./real-environment.ts";

const listRealEnvironments = route("GET", "/v1/real-environments", {
  needs: "read",
  id: "listRealEnvironments",
  summary: "List the real environments",
  description:
    "Lists the real environments that the operator of the server has declared, as the answering process sees them.",
  responses: {
    "200": response("The real environments", RealEnvironmentListResponse, examples.realEnvironments),
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
