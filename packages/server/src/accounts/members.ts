import {
  type Member as MemberBody,
  MemberListQuery,
  type MemberListResponse,
  MemberPath,
  MemberUpdateRequest,
} from "@presage/contract";
import type { Services } from "../app/services.ts";
import { readKeysetPage, toCursor } from "../http/list-cursor.ts";
import { readBody, readPath, readQuery } from "../http/read-request.ts";
import { accessChangerOf, requesterOf } from "../http/requester-of.ts";
import { type Route, withCaller } from "../http/route.ts";
import { toIsoInstant } from "../platform/storage/micros.ts";
import { changeRole } from "./change-role.ts";
import { type Member, selectMembers } from "./members-store.ts";

const path = "/v1/members";

export function memberRoutes({ identity, store, settings }: Services): Route[] {
  return [
    withCaller("GET", path, "manage", async (call) => {
      const requester = requesterOf(call);
      const page = readKeysetPage(readQuery(call, MemberListQuery));
      const { rows, next } = await selectMembers(store.briefReader(requester), requester.accountId, page);
      const response: MemberListResponse = { data: rows.map(toMember), next: toCursor(next) };
      return Response.json(response);
    }),
    withCaller("PATCH", `${path}/:user_id`, "manage", async (call) => {
      const { user_id } = readPath(call, MemberPath);
      const { role } = await readBody(call, MemberUpdateRequest, settings.maxShortBodyBytes);
      const member = await changeRole(identity, accessChangerOf(call), user_id.toLowerCase(), role);
      return Response.json(toMember(member));
    }),
  ];
}

function toMember({ created_at, ...member }: Member): MemberBody {
  return { ...member, created_at: toIsoInstant(created_at) };
}
