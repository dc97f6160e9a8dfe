import {
  Member,
  MemberListQuery,
  MemberListResponse,
  MemberPath,
  MemberUpdateRequest,
  MeResponse,
  WhoAmIResponse,
} from "@presage/contract";
import packageJson from "../../package.json" with { type: "json" };
import { accessChangerOf } from "../http/call.ts";
import type { Caller } from "../http/caller.ts";
import { errorResponse, noSuch, page, response } from "../http/describe.ts";
import { readKeysetPage, toCursor } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import type { Store } from "../platform/storage/store.ts";
import type { KeyChangeServices } from "./change-access.ts";
import examples from "./examples.json" with { type: "json" };
import { changeRole } from "./users.ts";
import {
  type Account,
  type Member as MemberRow,
  selectAccount,
  selectMembers,
  selectUser,
} from "./users-store.ts";

interface MeServices {
  store: Store;
  settings: { capture: Readonly<{ setting: string; maxAgeDays: number }> };
}

const getMe = route("GET", "/v1/me", {
  needs: "nothing",
  id: "getMe",
  summary: "Show the calling user",
  description: "Shows the user that the key or session of the request belongs to.",
  responses: {
    "200": response("The user", MeResponse, examples.me),
    "404": errorResponse("The calling user no longer exists", "The calling user no longer exists."),
  },
  async handle({ store, settings }: MeServices, { call }) {
    const user = await selectUser(store.database, call.caller.userId);
    if (user === undefined) throw new ServiceError("not_found", "The calling user no longer exists.");
    const { id, email, name, oidc_issuer, oidc_subject, role } = user;
    const { setting, maxAgeDays } = settings.capture;
    const capture = { setting, max_age_days: maxAgeDays };
    const server_version = packageJson.version;
    return reply(200, { id, email, name, oidc_issuer, oidc_subject, role, capture, server_version });
  },
});

const whoAmI = route("GET", "/v1/whoami", {
  needs: "nothing",
  id: "whoAmI",
  summary: "Show the calling key and its account",
  description: "Shows the key or session of the request, and the account that it belongs to.",
  responses: {
    "200": response("The key and the account", WhoAmIResponse, examples.whoami),
    "404": errorResponse("The key's account no longer exists", "The caller's account no longer exists."),
  },
  async handle({ store }: { store: Store }, { call }) {
    const account = await selectAccount(store.database, call.caller.accountId);
    if (account === undefined) throw new ServiceError("not_found", "The caller's account no longer exists.");
    const { id, name } = account;
    return reply(200, toWhoAmI(call.caller, { id, name }));
  },
});

function toWhoAmI({ role, proof }: Caller, account: Account): WhoAmIResponse {
  if (proof.kind === "command_line") return { caller: {} };
  return proof.kind === "key"
    ? { caller: { api_key: { id: proof.keyId, account, role, scopes: proof.scopes && [...proof.scopes] } } }
    : { caller: { session: { id: proof.sessionId, account, role } } };
}

const listMembers = route("GET", "/v1/members", {
  needs: "manage",
  id: "listMembers",
  summary: "List the users of the account",
  description: "Lists the users of the caller's account with their roles. For owners.",
  query: MemberListQuery,
  allowsUnknown: true,
  responses: { "200": response("The users, newest first", MemberListResponse, page(examples.member)) },
  async handle({ store }: { store: Store }, { requester, query }) {
    const reader = store.briefReader(requester);
    const { rows, next } = await selectMembers(reader, requester.accountId, readKeysetPage(query));
    const data = rows.map(({ last_seen_at, active_keys, ...member }) => ({
      ...toMember(member),
      last_seen_at: last_seen_at === null ? null : toIsoInstant(last_seen_at),
      active_keys,
    }));
    return reply(200, { data, next: toCursor(next) });
  },
});

const updateMember = route("PATCH", "/v1/members/:user_id", {
  needs: "manage",
  id: "updateMember",
  summary: "Change the role of a user",
  description:
    "Changes the role of a user of the caller's account. For owners. It takes effect at the next request, for the user's keys too; in other servers on the same database within 5 s.",
  params: MemberPath,
  body: MemberUpdateRequest,
  bodyExample: { role: "viewer" },
  responses: {
    "200": response("The user", Member, { ...examples.member, role: "viewer" }),
    ...noSuch("user"),
    "409": errorResponse(
      "The user is the last owner who can sign in",
      "No one else who can sign in is an owner of this account. Make someone else an owner first.",
    ),
  },
  async handle(services: KeyChangeServices, { call, params, body }) {
    const userId = params.user_id.toLowerCase();
    return reply(200, toMember(await changeRole(services, accessChangerOf(call), userId, body.role)));
  },
});

function toMember({ created_at, ...member }: MemberRow): Member {
  return { ...member, created_at: toIsoInstant(created_at) };
}

export const meRoutes = [getMe, whoAmI, listMembers, updateMember];
