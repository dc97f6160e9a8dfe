import type { Role } from "@presage/contract";
import type { Micros } from "../micros.ts";

export interface AccountsTable {
  id: string;
  name: string;
  created_at: Micros;
}

/** Accounts that are erased, or being erased: what requests had begun is not stored. */
export interface ClosedAccountsTable {
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
  /** Which of its predictions are kept; null: the server's setting. */
  capture: string | null;
  /** JSON; null: all that the user may. */
  scopes: string | null;
}

/** Signed-in browsers. */
export interface SessionsTable {
  id: string;
  user_id: string;
  /** The issuer as configured at sign-in: a multi-tenant provider names another one in its tokens. */
  issuer: string;
  /** Of the token in the browser's cookie. */
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
