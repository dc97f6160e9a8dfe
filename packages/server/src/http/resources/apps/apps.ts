import { AppListQuery, type AppListResponse } from "@presage/contract";
import type { AppNames } from "../../../evaluation/results/search/list-apps.ts";
import type { Asker } from "../../../storage/reader.ts";
import { type Route, withCaller } from "../../pipeline/route.ts";
import { askerOf } from "../../request/asker-of.ts";
import { readQuery } from "../../request/read-request.ts";

const defaultLimit = 1_000;

export type ListApps = (
  asker: Asker,
  page: { limit: number; after: string | undefined },
) => Promise<AppNames>;

export function appRoutes(listApps: ListApps): Route[] {
  return [
    withCaller("GET", "/v1/apps", async (call) => {
      const { limit, after } = readQuery(call, AppListQuery);
      const page = { limit: Number(limit ?? defaultLimit), after };
      const { names, next } = await listApps(askerOf(call), page);
      const answer: AppListResponse = { apps: names.map((name) => ({ name })), next: next ?? null };
      return Response.json(answer);
    }),
  ];
}
