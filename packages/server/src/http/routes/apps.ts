import type { AppListResponse } from "@presage/contract";
import { type Route, withCaller } from "../route.ts";

export function appRoutes(listApps: (accountId: string) => Promise<string[]>): Route[] {
  return [
    withCaller("GET", "/v1/apps", async ({ caller }) => {
      const names = await listApps(caller.accountId);
      return Response.json({ apps: names.map((name) => ({ name })) } satisfies AppListResponse);
    }),
  ];
}
