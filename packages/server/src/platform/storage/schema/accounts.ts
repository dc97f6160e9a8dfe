import type {
  AuditAction,
  AuditActorKind,
  Role,
  ShareKind,
  UsageFailure,
  UsageOperation,
} from "@presage/contract";
import type { Flag, Micros } from "../columns.ts";

/** Accounts, who acts for them, and what they used. */
export interface AccountTables {
  audit_events: AuditEventsTable;
  accounts: AccountsTable;
  closed_accounts: ClosedAccountsTable;
  users: UsersTable;
  api_keys: ApiKeysTable;
  sessions: SessionsTable;
  sign_in_tokens: SignInTokensTable;
  shares: SharesTable;
  usage_counts: UsageCountsTable;
  usage_model_tokens: UsageModelTokensTable;
  usage_latencies: UsageLatenciesTable;
  budgets: BudgetsTable;
}

/**
 * Who changed what. Rows are never changed, except for the detail of a change that goes on over several transactions. They are deleted by
 * their age, or with their account.
 */
export interface AuditEventsTable {
  id: string;
  account_id: string;
  created_at: Micros;
  action: AuditAction;
  object_id: string;
  actor_kind: AuditActorKind;
  /** Null for the command line. */
  actor_user_id: string | null;
  /** The id of the key or session. */
  actor_id: string | null;
  /** The key's name at that time, or the operating system's user. */
  actor_name: string | null;
  request_id: string | null;
  /** JSON. */
  detail: string;
}

export interface AccountsTable {
  id: string;
  name: string;
  created_at: Micros;
}

/** Accounts that are erased, or being erased: requests that had already begun store nothing more for them. */
interface ClosedAccountsTable {
  account_id: string;
  closed_at: Micros;
}

export interface UsersTable {
  id: string;
  account_id: string;
  oidc_issuer: string;
  oidc_subject: string;
  email: string | null;
  name: string | null;
  created_at: Micros;
  role: Role;
}

export interface ApiKeysTable {
  id: string;
  user_id: string;
  name: string;
  digest: string;
  prefix: string;
  last_four: string;
  created_at: Micros;
  expires_at: Micros | null;
  revoked_at: Micros | null;
  last_used_at: Micros | null;
  /** The key's own limits; null: the server's. */
  rate_limit_rpm: number | null;
  max_in_flight: number | null;
  /** Which of its predictions are stored; null: the server's setting. */
  capture: string | null;
  /** JSON; null: everything that the user may do. */
  scopes: string | null;
}

/** Signed-in browsers. */
export interface SessionsTable {
  id: string;
  user_id: string;
  /** The issuer as configured at sign-in: a multi-tenant provider names another one in its tokens. */
  issuer: string;
  /** The digest of the token in the browser's cookie. */
  digest: string;
  /** Truncated. */
  user_agent: string | null;
  /** Sent to the identity provider at sign-out; deleted when the session ends. */
  id_token: string | null;
  created_at: Micros;
  last_seen_at: Micros;
  /** The absolute end, however recently the session was used. */
  expires_at: Micros;
  ended_at: Micros | null;
}

/** One-time sign-in links of local mode. */
export interface SignInTokensTable {
  digest: string;
  user_id: string;
  created_at: Micros;
  expires_at: Micros;
  used_at: Micros | null;
}

/** Links that show something to whoever has them. A revoked link is deleted. */
export interface SharesTable {
  id: string;
  account_id: string;
  /** The digest of the token in the link. */
  digest: string;
  /** The user who made the link, and the key that they made it with, if any: the link ends with either. */
  user_id: string;
  api_key_id: string | null;
  kind: ShareKind;
  /** The id of what the link shows, or several separated by commas. */
  object: string;
  /** 1: texts are shown, too. */
  with_texts: number;
  created_at: Micros;
  expires_at: Micros;
}

/** An account's requests of one hour. A key that is always in use gets a few rows an hour. */
export interface UsageCountsTable {
  account_id: string;
  /** Hours since 1970-01-01 UTC. */
  hour: number;
  /** The key, or for requests with a session the user. Empty: with a session, before users were counted separately. */
  key_id: string;
  operation: UsageOperation;
  /** Empty if they succeeded; otherwise why they failed. */
  outcome: UsageFailure | "";
  requests: number;
  prompt_tokens: number;
  completion_tokens: number;
  /** Tokens of predictions that did not reach the upstream, prompt and completion together. */
  cached_tokens: number;
  /** The part of the prompts that consisted of worlds' examples. */
  example_tokens: number;
}

/** The tokens that upstreams processed in one hour, by the model's name. Those of unknown models are in the counts only. */
export interface UsageModelTokensTable {
  account_id: string;
  /** Hours since 1970-01-01 UTC. */
  hour: number;
  /** The key, or for requests with a session the user. Empty: with a session, before users were counted separately. */
  key_id: string;
  operation: UsageOperation;
  model: string;
  prompt_tokens: number;
  completion_tokens: number;
  /** The part of the prompts that the upstream had in its own cache. */
  upstream_cached_tokens: number;
}

/** What latencies measure: all of a prediction, or Presage's own part without the upstream's. */
export type LatencyMeasure = "total" | "overhead";

/** Latencies of an account's predictions in one hour: how many fell into each bucket. */
export interface UsageLatenciesTable {
  account_id: string;
  /** Hours since 1970-01-01 UTC. */
  hour: number;
  measure: LatencyMeasure;
  bucket: number;
  count: number;
}

/** What an account or one of its keys may spend in a calendar month. */
export interface BudgetsTable {
  account_id: string;
  /** Empty: the whole account. */
  api_key_id: string;
  /** Millionths of the currency of the price list. */
  limit_micros: number;
  /** Whether requests that would cost more are refused. */
  stops: Flag;
  /** The last month for which the warning was logged, as months since 1970-01. */
  warned_month: number;
}
