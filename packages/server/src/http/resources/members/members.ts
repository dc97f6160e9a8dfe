import {
  type Member as MemberBody,
  MemberListQuery,
  type MemberListResponse,
  MemberPath,
  MemberUpdateRequest,
} from "@presage/contract";
import { changeRole } from "../../../identity/users/change-role.ts";
import { type Member, selectMembers } from "../../../identity/users/members-store.ts";
import { toIsoInstant } from "../../../storage/micros.ts";
import { type Route, withCaller } from "../../pipeline/route.ts";
import { readKeysetPage, toCursor } from "../../request/list-cursor.ts";
import { readBody, readPath, readQuery } from "../../request/read-request.ts";
import { accessChangerOf, requesterOf } from "../../request/requester-of.ts";
import type { Services } from "../../services.ts";

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
