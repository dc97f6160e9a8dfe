import { AppListQuery, type AppListResponse } from "@presage/contract";
import { listApps } from "../../../evaluation/results/search/apps-store.ts";
import { type Route, withCaller } from "../../pipeline/route.ts";
import { readQuery } from "../../request/read-request.ts";
import { requesterOf } from "../../request/requester-of.ts";
import type { Services } from "../../services.ts";

const defaultLimit = 1_000;

export function appRoutes(services: Services): Route[] {
  return [
    withCaller("GET", "/v1/apps", async (call) => {
      const { limit, after } = readQuery(call, AppListQuery);
      const page = { limit: Number(limit ?? defaultLimit), after };
      const { names, next } = await listApps(services, requesterOf(call), page);
      const response: AppListResponse = { apps: names.map((name) => ({ name })), next: next ?? null };
      return Response.json(response);
    }),
  ];
}
