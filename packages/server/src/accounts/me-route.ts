import {
  type Member as MemberBody,
  MemberListQuery,
  MemberListResponse,
  MemberPath,
  Member as MemberSchema,
  MemberUpdateRequest,
  MeResponse,
  WhoAmIResponse,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import packageJson from "../../package.json" with { type: "json" };
import type { Services } from "../app/services.ts";
import { accessChangerOf, requesterOf } from "../http/call.ts";
import type { Caller } from "../http/caller.ts";
import { body, errorResponse, noSuch, operation, page, response } from "../http/describe.ts";
import { readBody, readKeysetPage, readPath, readQuery, toCursor } from "../http/request.ts";
import { type Route, withCaller } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import { changeRole } from "./users.ts";
import { type Account, type Member, selectAccount, selectMembers, selectUser } from "./users-store.ts";

export function meRoutes({ store, settings }: Services): Route[] {
  return [
    withCaller("GET", "/v1/me", "nothing", async ({ caller }) => {
      const user = await selectUser(store.database, caller.userId);
      if (user === undefined) throw new ServiceError("not_found", "The calling user no longer exists.");
      const { id, email, name, oidc_issuer, oidc_subject } = user;
      const { setting, maxAgeDays } = settings.capture;
      const capture = { setting, max_age_days: maxAgeDays };
      const server_version = packageJson.version;
      const me: MeResponse = {
        id,
        email,
        name,
        oidc_issuer,
        oidc_subject,
        role: user.role,
        capture,
        server_version,
      };
      return Response.json(me);
    }),
  ];
}

export const mePaths: ZodOpenApiPathsObject = {
  "/v1/me": {
    get: operation("getMe", "dashboard", "Show the calling user", {
      description: "Shows the user that the key or session of the request belongs to.",
      responses: {
        "200": response("The user", MeResponse, {
          id: "01a2015d-17ca-76a5-aa4f-c26a65d9cd6e",
          email: "sam@example.com",
          name: "Sam Doe",
          oidc_issuer: "https://accounts.example.com",
          oidc_subject: "248289761001",
          role: "member",
          capture: { setting: "off", max_age_days: 30 },
          server_version: "0.1.0",
        }),
        "404": errorResponse("The calling user no longer exists", "The calling user no longer exists."),
      },
    }),
  },
  "/v1/whoami": {
    get: operation("whoAmI", "dashboard", "Show the calling key and its account", {
      description: "Shows the key or session of the request, and the account that it belongs to.",
      responses: {
        "200": response("The key and the account", WhoAmIResponse, {
          caller: {
            api_key: {
              id: "01a2015d-17cc-778e-bb65-bb9788f05399",
              account: { id: "01a2015d-17ca-76a6-84a3-fcf32365f7d8", name: "default" },
              role: "owner",
              scopes: null,
            },
          },
        }),
        "404": errorResponse("The key's account no longer exists", "The caller's account no longer exists."),
      },
    }),
  },
};

export function whoAmIRoutes({ store }: Services): Route[] {
  return [
    withCaller("GET", "/v1/whoami", "nothing", async ({ caller }) => {
      const account = await selectAccount(store.database, caller.accountId);
      if (account === undefined) {
        throw new ServiceError("not_found", "The caller's account no longer exists.");
      }
      const { id, name } = account;
      return Response.json(toResponse(caller, { id, name }));
    }),
  ];
}

function toResponse({ role, proof }: Caller, account: Account): WhoAmIResponse {
  if (proof.kind === "command_line") return { caller: {} };
  return proof.kind === "key"
    ? { caller: { api_key: { id: proof.keyId, account, role, scopes: proof.scopes && [...proof.scopes] } } }
    : { caller: { session: { id: proof.sessionId, account, role } } };
}

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

const exampleMember: MemberSchema = {
  id: "01a2015d-17ca-76a5-aa4f-c26a65d9cd6e",
  email: "sam@example.com",
  name: "Sam Doe",
  role: "member",
  created_at: "2026-11-22T03:46:47.926Z",
};

export const memberPaths: ZodOpenApiPathsObject = {
  "/v1/members": {
    get: operation("listMembers", "dashboard", "List the users of the account", {
      description: "Lists the users of the caller's account with their roles. For owners.",
      requestParams: { query: MemberListQuery },
      responses: {
        "200": response("The users, newest first", MemberListResponse, page(exampleMember)),
      },
    }),
  },
  "/v1/members/{user_id}": {
    patch: operation("updateMember", "dashboard", "Change the role of a user", {
      description:
        "Changes the role of a user of the caller's account. For owners. It takes effect at the next request, for the user's keys too; in other servers on the same database within 5 s.",
      requestParams: { path: MemberPath },
      requestBody: body(MemberUpdateRequest, { role: "viewer" }),
      responses: {
        "200": response("The user", MemberSchema, { ...exampleMember, role: "viewer" }),
        ...noSuch("user"),
        "409": errorResponse(
          "The user is the last owner who can sign in",
          "No one else who can sign in is an owner of this account. Make someone else an owner first.",
        ),
      },
    }),
  },
};
