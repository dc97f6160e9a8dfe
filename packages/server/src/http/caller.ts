import {
  type KeyScope,
  type Need,
  permissions,
  type Role,
  scopesOfRole,
  toKeyScopes,
} from "@presage/contract";
import type { Actor, Changer } from "../platform/audit.ts";
import { ServiceError } from "../platform/errors.ts";
import { type KeyLimits, type LimitHolders, noKeyLimits } from "../platform/limits/admission.ts";
import { type Micros, toIsoInstant, toMicros } from "../platform/storage/columns.ts";
import { operatingSystemUser } from "../platform/words.ts";

/** The cookie that carries a session's token. */
export interface SessionCookie {
  /** The token in a request's cookie. */
  read(headers: Headers): string | undefined;
  /** `Set-Cookie` that sets a token. */
  set(token: string): string;
  /** `Set-Cookie` that deletes it. */
  clear(): string;
}

/** Refuses a caller whose role, or whose key's scopes, do not cover a need. */
export function checkAccess({ role, proof }: Pick<Caller, "role" | "proof">, need: Need): void {
  const { roles, scope } = permissions[need];
  if (!roles.includes(role))
    throw new ServiceError(
      "forbidden",
      `Your role is ${role}; this request needs the role ${roles.toReversed().join(" or ")}. An owner of your account can change your role.`,
    );
  const scopes = proof.kind === "session" ? null : proof.scopes;
  if (scopes === null || scope === undefined || scopes.includes(scope)) return;
  throw new ServiceError(
    "forbidden",
    `This API key does not have the scope "${scope}"; it has ${listed(scopes)}. Use a key with that scope.`,
  );
}

/** Refuses rights that a new key would have and its creator lacks: a key never creates one that can do more, or lasts longer. */
export function checkNewKey(
  { role, proof }: Pick<Caller, "role" | "proof">,
  { scopes, expiresAt }: { scopes: KeyScope[] | null; expiresAt: Date | null },
) {
  const own = proof.kind === "session" ? null : proof.scopes;
  if (own !== null && (scopes === null || scopes.some((scope) => !own.includes(scope))))
    throw new ServiceError(
      "forbidden",
      `This API key has the scopes ${listed(own)}, so it can only create keys with some of these scopes. Name them in "scopes".`,
    );
  const until = proof.kind === "key" ? proof.expiresAt : null;
  if (until !== null && (expiresAt === null || toMicros(expiresAt) > until))
    throw new ServiceError(
      "forbidden",
      `This API key expires at ${toIsoInstant(until)}, so keys that it creates expire by then. Name a time up to that in "expires_at".`,
    );
  const allowed = scopesOfRole(role);
  const missing = scopes?.filter((scope) => !allowed.includes(scope)) ?? [];
  if (missing.length > 0)
    throw new ServiceError(
      "forbidden",
      `Your role is ${role}, so your keys cannot have the scope ${listed(missing)}.`,
    );
}

function listed(scopes: readonly KeyScope[]): string {
  return toKeyScopes(scopes)
    .map((scope) => `"${scope}"`)
    .join(", ");
}

/** The user behind a request, and how they authenticated. */
export interface Caller {
  userId: string;
  accountId: string;
  role: Role;
  proof: Proof;
}

export type Proof =
  | {
      kind: "key";
      keyId: string;
      keyName: string;
      /** Null: never. */
      expiresAt: Micros | null;
      limits: KeyLimits;
      /** The key's scopes, within the user's role; null: everything that the role allows. */
      scopes: readonly KeyScope[] | null;
      /** Which of its predictions are kept; null: the server's setting. */
      capture: string | null;
    }
  | { kind: "session"; sessionId: string }
  /** A command on the server's machine, with the key of this start; a command in its own process states its actor. */
  | { kind: "command_line"; scopes: readonly KeyScope[]; actor?: Actor };

/** A session that is live, with its user. */
export interface LiveSession {
  caller: Caller & { proof: Extract<Proof, { kind: "session" }> };
  /** The token that pages send as `x-csrf-token` with each request that changes something. */
  csrfToken: string;
}

/** Finds the caller of a key or a session; undefined if there is none. */
export interface Authenticator {
  verifyKey(key: string): Caller | undefined | Promise<Caller | undefined>;
  verifySession(token: string): Promise<LiveSession | undefined>;
  /** The key of this start, with which commands on the server's machine call the server. */
  commandLine: { isKey(key: string): boolean; findCaller(): Promise<Caller> };
}

/** A caller who changes a user's access, until they disconnect. */
export interface AccessChanger extends Changer {
  caller: Caller;
}

/** Whose limits a request counts against: each key has its own, the sessions of a user share theirs. */
export function limitHolders({ userId, accountId, proof }: Caller): LimitHolders {
  return proof.kind === "key"
    ? { userId, accountId, keyOrUserId: proof.keyId, keyLimits: proof.limits }
    : { userId, accountId, keyOrUserId: userId, keyLimits: noKeyLimits };
}

/** The key of a caller; undefined for any other proof. */
export function keyIdOf({ proof }: Caller): string | undefined {
  return proof.kind === "key" ? proof.keyId : undefined;
}

/** Who pays for a caller's requests: the key or, without one, the user. */
export function spenderOf(caller: Caller): { accountId: string; keyId: string } {
  return { accountId: caller.accountId, keyId: keyIdOf(caller) ?? caller.userId };
}

/** A caller in the audit log. */
export function actorOf({ userId, proof }: Caller, requestId: string): Actor {
  if (proof.kind === "command_line")
    return (
      proof.actor ?? { kind: "command_line", userId: null, id: null, name: operatingSystemUser(), requestId }
    );
  return proof.kind === "key"
    ? { kind: "api_key", userId, id: proof.keyId, name: proof.keyName, requestId }
    : { kind: "session", userId, id: proof.sessionId, name: null, requestId };
}

/** The same text for every refusal: it reveals nothing about which keys and sessions exist. */
export function notAuthenticated(): ServiceError {
  return new ServiceError("unauthenticated", "Authentication required: send an API key or sign in.");
}
