import type {
  ApiKeyCreateRequest,
  ApiKeyCreateResponse,
  ApiKeyListResponse,
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
  MemberListResponse,
  MemberUpdateRequest,
  MeResponse,
  SessionListResponse,
  SessionResponse,
  SignOutResponse,
  SpendingQuery,
  SpendingResponse,
  UsageQuery,
  UsageResponse,
  WhoAmIResponse,
} from "@presage/contract";
import { type CallOptions, underOneKey, type WriteOptions } from "../call.ts";
import { iterateAllPages, listAllPages } from "../paging.ts";
import type { Transport } from "../transport.ts";

/** Gets the user of the key or session: `GET /v1/me`. */
export type Me = (options?: CallOptions) => Promise<MeResponse>;

/** Gets the key or session of this call, and its account: `GET /v1/whoami`. */
export type WhoAmI = (options?: CallOptions) => Promise<WhoAmIResponse["caller"]>;

export function me({ json }: Transport): Me {
  return (options) => json({ method: "GET", path: "/v1/me" }, options);
}

export function whoAmI({ json }: Transport): WhoAmI {
  return async (options) => {
    return (await json<WhoAmIResponse>({ method: "GET", path: "/v1/whoami" }, options)).caller;
  };
}

/** The API keys of the user. */
export interface ApiKeys {
  /** Lists all keys of the user, newest first, over all pages: `GET /v1/api-keys`. */
  list(options?: CallOptions): Promise<ApiKeyResponse[]>;
  /** Creates a key: `POST /v1/api-keys`. Only this response contains the key itself. */
  create(request: ApiKeyCreateRequest, options?: WriteOptions): Promise<ApiKeyCreateResponse>;
  /** Changes a key's limits: `PATCH /v1/api-keys/{id}`. What is absent stays; null restores the server's limit. */
  update(id: string, request: ApiKeyUpdateRequest, options?: CallOptions): Promise<ApiKeyResponse>;
  /** Revokes a key for good: `DELETE /v1/api-keys/{id}`. */
  revoke(id: string, options?: CallOptions): Promise<void>;
}

const keysPath = "/v1/api-keys";

export function apiKeys({ json }: Transport): ApiKeys {
  const pathOf = (id: string) => `${keysPath}/${encodeURIComponent(id)}`;
  return {
    list: (options) =>
      listAllPages((query) => json<ApiKeyListResponse>({ method: "GET", path: keysPath, query }, options)),
    create: (body, options) =>
      json({ method: "POST", path: keysPath, body, ...underOneKey(options) }, options),
    update: (id, body, options) =>
      json({ method: "PATCH", path: pathOf(id), body, isRepeatable: true }, options),
    revoke: (id, options) => json({ method: "DELETE", path: pathOf(id), isRepeatable: true }, options),
  };
}

/** The browsers in which the user is signed in. */
export interface Sessions {
  /** Lists all browsers in which the user is signed in, newest first, over all pages: `GET /v1/sessions`. */
  list(options?: CallOptions): Promise<SessionResponse[]>;
  /** Signs a browser out: `DELETE /v1/sessions/{id}`. */
  end(id: string, options?: CallOptions): Promise<void>;
}

/** Ends the session of this call and returns where the page goes next: `POST /auth/sign-out`. Not with a key. */
export type SignOut = (options?: CallOptions) => Promise<SignOutResponse>;

const sessionsPath = "/v1/sessions";

export function sessions({ json }: Transport): Sessions {
  return {
    list: (options) =>
      listAllPages((query) =>
        json<SessionListResponse>({ method: "GET", path: sessionsPath, query }, options),
      ),
    end: (id, options) =>
      json(
        { method: "DELETE", path: `${sessionsPath}/${encodeURIComponent(id)}`, isRepeatable: true },
        options,
      ),
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

export function members({ json }: Transport): Members {
  return {
    list: (options) =>
      listAllPages((query) => json<MemberListResponse>({ method: "GET", path: membersPath, query }, options)),
    update: (id, body, options) =>
      json(
        { method: "PATCH", path: `${membersPath}/${encodeURIComponent(id)}`, body, isRepeatable: true },
        options,
      ),
  };
}

/** Which changes; without any field, all. */
export type AuditEventFilter = Omit<AuditEventListQuery, "limit" | "after">;

/** Who changed what in the account. For owners. */
export interface AuditEvents {
  /** Yields all that match, newest first, page by page: `GET /v1/audit-events`. */
  iterate(filter?: AuditEventFilter, options?: CallOptions): AsyncGenerator<AuditEvent, void, undefined>;
  /** Lists one page, newest first: `GET /v1/audit-events`. `next` is null on the last page. */
  list(query?: AuditEventListQuery, options?: CallOptions): Promise<AuditEventListResponse>;
}

export function auditEvents({ json }: Transport): AuditEvents {
  const list = (query: AuditEventListQuery = {}, options?: CallOptions) =>
    json<AuditEventListResponse>({ method: "GET", path: "/v1/audit-events", query: { ...query } }, options);

  return {
    list,
    iterate: (filter, options) =>
      iterateAllPages((query) => list({ ...filter, limit: "1000", ...query }, options)),
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
  /** Lists the budgets and what is spent of them: `GET /v1/budgets`. */
  list(options?: CallOptions): Promise<BudgetListResponse>;
  /** Sets a budget, or removes it if `limit` is null: `PATCH /v1/budgets`. For owners. */
  set(request: BudgetRequest, options?: CallOptions): Promise<BudgetListResponse>;
}

export function budgets({ json }: Transport): Budgets {
  const path = "/v1/budgets";
  return {
    list: (options) => json({ method: "GET", path }, options),
    set: (body, options) => json({ method: "PATCH", path, body, isRepeatable: true }, options),
  };
}

const usagePath = "/v1/usage";

export function usage({ json }: Transport): Usage {
  return {
    list: (query, options) => json({ method: "GET", path: usagePath, query: { ...query } }, options),
    latency: (query, options) =>
      json({ method: "GET", path: `${usagePath}/latency`, query: { ...query } }, options),
    people: (query, options) =>
      json({ method: "GET", path: `${usagePath}/people`, query: { ...query } }, options),
  };
}
