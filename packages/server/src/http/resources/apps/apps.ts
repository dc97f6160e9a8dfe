import { AppListQuery, type AppListResponse, defaultPageLimit } from "@presage/contract";
import { listApps } from "../../../evaluation/results/search/apps-store.ts";
import { type Route, withCaller } from "../../pipeline/route.ts";
import { readPage } from "../../request/read-page.ts";
import { readQuery } from "../../request/read-request.ts";
import { requesterOf } from "../../request/requester-of.ts";
import type { Services } from "../../services.ts";

export function appRoutes(services: Services): Route[] {
  return [
    withCaller("GET", "/v1/apps", "read", async (call) => {
      const query = readQuery(call, AppListQuery);
      const page = { after: query.after, ...readPage(query, defaultPageLimit) };
      const { names, next } = await listApps(services.evaluation, requesterOf(call), page);
      const response: AppListResponse = { apps: names.map((name) => ({ name })), next: next ?? null };
      return Response.json(response);
    }),
  ];
}
