import type {
  ApiKeyCreateRequest,
  ApiKeyCreateResponse,
  ApiKeyResponse,
  ApiKeyUpdateRequest,
  AuditEvent,
  AuditEventListQuery,
  AuditEventListResponse,
  BudgetListResponse,
  BudgetRequest,
  LatencyQuery,
  LatencyResponse,
  Member,
  MemberUpdateRequest,
  MeResponse,
  SessionResponse,
  SignOutResponse,
  SpendingQuery,
  SpendingResponse,
  UsageQuery,
  UsageResponse,
  WhoAmIResponse,
} from "@presage/contract";
import type { CallOptions, WriteOptions } from "../call.ts";
import { callsOf, pathsUnder } from "../resource.ts";
import type { Transport } from "../transport.ts";

/** Gets the user of the key or session: `GET /v1/me`. */
export type Me = (options?: CallOptions) => Promise<MeResponse>;

/** Gets the key or session of this call, and its account: `GET /v1/whoami`. */
export type WhoAmI = (options?: CallOptions) => Promise<WhoAmIResponse["caller"]>;

export function me(transport: Transport): Me {
  return (options) => callsOf(transport).get("/v1/me", options);
}

export function whoAmI(transport: Transport): WhoAmI {
  return async (options) => (await callsOf(transport).get<WhoAmIResponse>("/v1/whoami", options)).caller;
}

/** The API keys of the user. */
export interface ApiKeys {
  /** Lists all keys of the user, newest first, over all pages: `GET /v1/api-keys`. */
  list(options?: CallOptions): Promise<ApiKeyResponse[]>;
  /** Creates a key: `POST /v1/api-keys`. Only this response contains the key itself. */
  create(request: ApiKeyCreateRequest, options?: WriteOptions): Promise<ApiKeyCreateResponse>;
  /** Changes a key's limits: `PATCH /v1/api-keys/{id}`. Absent fields stay; null restores the server's limit. */
  update(id: string, request: ApiKeyUpdateRequest, options?: CallOptions): Promise<ApiKeyResponse>;
  /** Revokes a key for good: `DELETE /v1/api-keys/{id}`. */
  revoke(id: string, options?: CallOptions): Promise<void>;
}

const keysPath = "/v1/api-keys";
const keyPath = pathsUnder(keysPath);

export function apiKeys(transport: Transport): ApiKeys {
  const { create, repeatable, list } = callsOf(transport);
  return {
    list: (options) => list(keysPath, options),
    create: (body, options) => create(keysPath, body, options),
    update: (id, body, options) => repeatable("PATCH", keyPath(id), options, body),
    revoke: (id, options) => repeatable("DELETE", keyPath(id), options),
  };
}

/** The browsers in which the user is signed in. */
export interface Sessions {
  /** Lists all browsers in which the user is signed in, newest first, over all pages: `GET /v1/sessions`. */
  list(options?: CallOptions): Promise<SessionResponse[]>;
  /** Signs a browser out: `DELETE /v1/sessions/{id}`. */
  end(id: string, options?: CallOptions): Promise<void>;
}

/** Ends the session of this call and returns where the page goes next: `POST /auth/sign-out`. Not available with a key. */
export type SignOut = (options?: CallOptions) => Promise<SignOutResponse>;

const sessionsPath = "/v1/sessions";

export function sessions(transport: Transport): Sessions {
  const { repeatable, list } = callsOf(transport);
  return {
    list: (options) => list(sessionsPath, options),
    end: (id, options) => repeatable("DELETE", pathsUnder(sessionsPath)(id), options),
  };
}

export function signOut({ json }: Transport): SignOut {
  return (options) => json({ method: "POST", path: "/auth/sign-out" }, options);
}

/** The users of the account. For owners. */
export interface Members {
  /** Lists all users, newest first, over all pages: `GET /v1/members`. */
  list(options?: CallOptions): Promise<Member[]>;
  /** Changes a user's role, from their next request on: `PATCH /v1/members/{id}`. */
  update(id: string, request: MemberUpdateRequest, options?: CallOptions): Promise<Member>;
}

const membersPath = "/v1/members";

export function members(transport: Transport): Members {
  const { repeatable, list } = callsOf(transport);
  return {
    list: (options) => list(membersPath, options),
    update: (id, body, options) => repeatable("PATCH", pathsUnder(membersPath)(id), options, body),
  };
}

/** Selects changes; all of them if no field is set. */
export type AuditEventFilter = Omit<AuditEventListQuery, "limit" | "after">;

/** Who changed what in the account. For owners. */
export interface AuditEvents {
  /** Yields all matching changes, newest first, page by page: `GET /v1/audit-events`. */
  iterate(filter?: AuditEventFilter, options?: CallOptions): AsyncGenerator<AuditEvent, void, undefined>;
  /** Lists one page, newest first: `GET /v1/audit-events`. `next` is null on the last page. */
  list(query?: AuditEventListQuery, options?: CallOptions): Promise<AuditEventListResponse>;
}

export function auditEvents(transport: Transport): AuditEvents {
  const { get, iterate } = callsOf(transport);
  const path = "/v1/audit-events";
  return {
    list: (query, options) => get(path, options, query),
    iterate: (filter, options) => iterate(path, options, { ...filter, limit: "1000" }),
  };
}

/** Requests, tokens and latencies. */
export interface Usage {
  /** Gets requests and tokens by key and time, up to date within about 10 s: `GET /v1/usage`. */
  list(query?: UsageQuery, options?: CallOptions): Promise<UsageResponse>;
  /** Gets latencies of predictions in milliseconds: `GET /v1/usage/latency`. */
  latency(query?: LatencyQuery, options?: CallOptions): Promise<LatencyResponse>;
  /** Gets who spent what, with which keys and on which models: `GET /v1/usage/people`. */
  people(query?: SpendingQuery, options?: CallOptions): Promise<SpendingResponse>;
}

/** What the account and its keys may spend in a calendar month (UTC). */
export interface Budgets {
  /** Lists the budgets and how much of them is spent: `GET /v1/budgets`. */
  list(options?: CallOptions): Promise<BudgetListResponse>;
  /** Sets a budget, or removes it if `limit` is null: `PATCH /v1/budgets`. For owners. */
  set(request: BudgetRequest, options?: CallOptions): Promise<BudgetListResponse>;
}

export function budgets(transport: Transport): Budgets {
  const { get, repeatable } = callsOf(transport);
  const path = "/v1/budgets";
  return {
    list: (options) => get(path, options),
    set: (body, options) => repeatable("PATCH", path, options, body),
  };
}

const usagePath = "/v1/usage";

export function usage(transport: Transport): Usage {
  const { get } = callsOf(transport);
  return {
    list: (query, options) => get(usagePath, options, query),
    latency: (query, options) => get(`${usagePath}/latency`, options, query),
    people: (query, options) => get(`${usagePath}/people`, options, query),
  };
}
