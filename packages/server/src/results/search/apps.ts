import { AppListQuery, type AppListResponse, defaultPageLimit } from "@presage/contract";
import type { Services } from "../../app/services.ts";
import { readPage } from "../../http/read-page.ts";
import { readQuery } from "../../http/read-request.ts";
import { requesterOf } from "../../http/requester-of.ts";
import { type Route, withCaller } from "../../http/route.ts";
import { listApps } from "./apps-store.ts";

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
