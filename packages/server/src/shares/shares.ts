import {
  defaultShareDays,
  maxShareDays,
  readInstant,
  type Share,
  type ShareCreateRequest,
  type ShareKind,
} from "@presage/contract";
import { changeAccess } from "../accounts/change-access.ts";
import type { SessionRules } from "../accounts/sessions-store.ts";
import { generateSecret, isSecret, type KeyDigest } from "../accounts/verify-api-key.ts";
import { type AccessChanger, keyIdOf } from "../http/caller.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import { type Changer, recordChange } from "../platform/audit.ts";
import { conflict, notFound } from "../platform/errors.ts";
import { microsPerDay, nowMicros, toIsoInstant } from "../platform/storage/columns.ts";
import { inTransaction, type Store } from "../platform/storage/store.ts";
import {
  countShares,
  deleteShare,
  insertShare,
  type StoredShare,
  selectShareByDigest,
} from "./shares-store.ts";

const scheme = "pss_";
/** More would be a program's, and each is a row that someone has to look through. */
const maxShares = 1_000;

export interface NewShare {
  kind: ShareKind;
  ids: readonly string[];
  createdAt: number;
  expiresAt: number;
  withTexts: boolean;
}

/** Makes a link, whose token only the response has. It lives no longer than the access of its maker. */
export async function createShare(
  services: { store: Store; sessionRules: SessionRules; keyDigest: KeyDigest },
  changer: AccessChanger,
  { kind, ids, createdAt, expiresAt, withTexts }: NewShare,
): Promise<StoredShare & { token: string }> {
  const token = generateSecret(scheme);
  const { caller, accountId } = changer;
  const share: StoredShare = {
    id: Bun.randomUUIDv7(),
    account_id: accountId,
    user_id: caller.userId,
    api_key_id: keyIdOf(caller) ?? null,
    kind,
    object: toObject(ids),
    with_texts: withTexts ? 1 : 0,
    created_at: createdAt,
    expires_at: expiresAt,
  };
  await changeAccess(services, changer, async (transaction) => {
    if ((await countShares(transaction, accountId, createdAt, maxShares)) >= maxShares)
      throw conflict(
        `An account can have ${maxShares} links. Revoke one that is no longer needed, and try again.`,
      );
    await insertShare(transaction, { ...share, digest: services.keyDigest(token) });
    await recordChange(transaction, changer, "share.create", share.id, {
      kind,
      shown_ids: [...ids],
      with_texts: withTexts,
      expires_at: toIsoInstant(expiresAt),
    });
  });
  return { ...share, token };
}

/** Ends a link of the account, whoever made it. */
export async function revokeShare({ store }: { store: Store }, requester: Changer, id: string) {
  await inTransaction(store, requester, async (transaction) => {
    const share = await deleteShare(transaction, requester.accountId, id);
    if (share === undefined) throw notFound("link");
    const { kind, object } = share;
    await recordChange(transaction, requester, "share.revoke", id, {
      kind,
      shown_ids: toIds(object),
      user_id: share.user_id,
    });
  });
}

/** The link with a token, if it works. What is no token is not looked up. */
export async function findShare(
  { store, keyDigest }: { store: Store; keyDigest: KeyDigest },
  token: string,
): Promise<StoredShare | undefined> {
  if (!isSecret(token, scheme)) return undefined;
  return await selectShareByDigest(store.database, keyDigest(token), nowMicros());
}

/** What a link is to, as it is stored: the ids in their order. */
function toObject(ids: readonly string[]): string {
  return ids.join(",");
}

function toIds(object: string): string[] {
  return object.split(",");
}

export function toShare({
  id,
  kind,
  object,
  with_texts,
  user_id,
  created_at,
  expires_at,
}: StoredShare): Share {
  return {
    id,
    kind,
    ids: toIds(object),
    with_texts: with_texts === 1,
    user_id,
    created_at: toIsoInstant(created_at),
    expires_at: toIsoInstant(expires_at),
  };
}

/** When a new link ends, in microseconds since 1970-01-01 UTC. Throws an `InvalidRequestError`. */
export function readShareEnd(text: ShareCreateRequest["expires_at"], now: number): number {
  if (text === null || text === undefined) return now + defaultShareDays * microsPerDay;
  const end = readInstant(text);
  if (end > now && end <= now + maxShareDays * microsPerDay) return end;
  const error = end <= now ? "the time is in the past" : `a link works for at most ${maxShareDays} days`;
  throw new InvalidRequestError([valueError(["body", "expires_at"], error, text)]);
}
