import {
  defaultShareDays,
  maxShareDays,
  readInstant,
  type Share,
  ShareCreateRequest,
  ShareCreateResponse,
  type ShareKind,
  ShareListQuery,
  ShareListResponse,
  SharePath,
} from "@presage/contract";
import { changeAccess, checkRoleNow } from "../accounts/change-access.ts";
import type { SessionRules } from "../accounts/sessions-store.ts";
import { generateSecret, isSecret, type KeyDigest } from "../accounts/verify-api-key.ts";
import { accessChangerOf, type Call, keepOpen } from "../http/call.ts";
import { type AccessChanger, checkAccess, keyIdOf } from "../http/caller.ts";
import { errorResponse, noSuch, page, response } from "../http/describe.ts";
import { readKeysetPage, toCursor } from "../http/request.ts";
import { openSecretPage, type Route, reply, route } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import { type Changer, recordChange } from "../platform/audit.ts";
import { conflict, notFound, ServiceError } from "../platform/errors.ts";
import { neverAborted } from "../platform/limits/deadline.ts";
import { microsPerDay, nowMicros, toIsoInstant } from "../platform/storage/columns.ts";
import { inTransaction, type Requester, type Store } from "../platform/storage/store.ts";
import { dayOf, reportPolicy, toHtml } from "../runs/report/pages.ts";
import type { FindNeeds } from "../runs/runs.ts";
import { type PageServices, shareKinds } from "./share-kinds.ts";
import {
  countShares,
  deleteShare,
  insertShare,
  type StoredShare,
  selectShareByDigest,
  selectShares,
} from "./shares-store.ts";

const scheme = "pss_";
/** Only a program would make more, and people have to look through the list. */
const maxShares = 1_000;

interface NewShare {
  kind: ShareKind;
  ids: readonly string[];
  createdAt: number;
  expiresAt: number;
  withTexts: boolean;
}

/** Creates a link, whose token only the response has. The link ends at the latest with its creator's access. */
async function createShare(
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
    object: ids.join(","),
    with_texts: withTexts ? 1 : 0,
    created_at: createdAt,
    expires_at: expiresAt,
  };
  await changeAccess(services, changer, async (transaction) => {
    // Another process may just have changed the role and deleted the existing links.
    await checkRoleNow(transaction, caller, "evaluate");
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

/** Revokes a link of the account, whoever created it. */
async function revokeShare({ store }: { store: Store }, requester: Changer, id: string) {
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

/** The working link with this token. A text that cannot be a token is not looked up. */
async function findShare(
  { store, keyDigest }: { store: Store; keyDigest: KeyDigest },
  token: string,
): ReturnType<typeof selectShareByDigest> {
  if (!isSecret(token, scheme)) return undefined;
  return await selectShareByDigest(store.database, keyDigest(token), nowMicros());
}

function toIds(object: string): string[] {
  return object.split(",");
}

function toShare({ id, kind, object, with_texts, user_id, created_at, expires_at }: StoredShare): Share {
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
function readShareEnd(text: ShareCreateRequest["expires_at"], now: number): number {
  if (text === null || text === undefined) return now + defaultShareDays * microsPerDay;
  const end = readInstant(text);
  if (end > now && end <= now + maxShareDays * microsPerDay) return end;
  const error = end <= now ? "the time is in the past" : `a link works for at most ${maxShareDays} days`;
  throw new InvalidRequestError([valueError(["body", "expires_at"], error, text)]);
}

const path = "/share/:token";

/** A link's page is generated once at a time: anyone who opens the link meanwhile gets the same page. */
export function sharePageRoutes(services: PageServices & { keyDigest: KeyDigest }): Route[] {
  const inProgress = new Map<string, Promise<string>>();
  return [
    openSecretPage(path, async (call) => {
      keepOpen(call);
      const token = call.request.params?.token ?? "";
      const share = await findShare(services, token);
      if (share === undefined) throw ended();
      const current = inProgress.get(share.id);
      const making = current ?? writePage(services, call, share).finally(() => inProgress.delete(share.id));
      if (current === undefined) inProgress.set(share.id, making);
      const html = await making;
      // The link may have been revoked meanwhile.
      if ((await findShare(services, token)) === undefined) throw ended();
      return new Response(html, {
        headers: {
          "content-type": "text/html; charset=utf-8",
          "content-security-policy": `${reportPolicy}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
        },
      });
    }),
  ];
}

/** Generates the page for everyone who waits for it, even if the first of them disconnects. */
async function writePage(
  services: PageServices,
  { exchange }: Call,
  share: StoredShare & { made_by: string | null },
): Promise<string> {
  const requester: Requester = { accountId: share.account_id, signal: neverAborted };
  try {
    const {
      title,
      ended: end,
      parts,
    } = await shareKinds[share.kind].show({ services, exchange, requester, share });
    const [since, until] = [share.created_at, share.expires_at].map((at) => dayOf(toIsoInstant(at)));
    const by = share.made_by === null ? "" : ` by ${share.made_by}`;
    const note = `Shared${by} on ${since}. This link works until ${until}.`;
    return toHtml(title, parts, [...(end === undefined ? [] : [end]), note].join(" "));
  } catch (error) {
    if (error instanceof ServiceError && error.code === "not_found") throw ended();
    throw error;
  }
}

/** The same text whether such a link existed or not. */
function ended(): ServiceError {
  return new ServiceError(
    "not_found",
    "It has ended, or what it showed is gone. Ask whoever sent it for a new one.",
  );
}

const exampleShare: Share = {
  id: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59",
  kind: "run",
  ids: ["019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41"],
  with_texts: false,
  user_id: "01a2015d-17ca-76a5-aa4f-c26a65d9cd6e",
  created_at: "2026-11-22T03:46:47.926Z",
  expires_at: "2026-12-22T03:46:47.926Z",
};

const createLink = route("POST", "/v1/shares", {
  needs: "evaluate",
  id: "createShare",
  summary: "Share a run, a comparison or a reality check",
  description:
    "Creates a link with which anyone can read one run's report, one comparison or one reality check, without signing in. A key with scopes needs `read` too. The link ends at its time, when it is revoked, when its maker's key or role no longer allows it, and when what it shows is deleted. The response is the only one with the link.",
  body: ShareCreateRequest,
  bodyExample: { kind: exampleShare.kind, ids: exampleShare.ids },
  responses: {
    "201": response("The link; it is shown only once", ShareCreateResponse, {
      ...exampleShare,
      path: "/share/pss_lQSp…6sTQ",
    }),
    "404": errorResponse("The account does not have all of these runs", "There is no such run."),
    "409": errorResponse(
      "The account has 1,000 links",
      "An account can have 1000 links. Revoke one that is no longer needed, and try again.",
    ),
  },
  async handle(
    services: FindNeeds & { sessionRules: SessionRules; keyDigest: KeyDigest },
    { call, requester, body },
  ) {
    // A link shows things that a key with the scope `evaluate` alone cannot read.
    checkAccess(call.caller, "read");
    const { kind, with_texts: withTexts = false } = body;
    const issue = shareKinds[kind].idsIssue(body.ids);
    if (issue !== undefined) throw new InvalidRequestError([valueError(["body", "ids"], issue, body.ids)]);
    const createdAt = nowMicros();
    const expiresAt = readShareEnd(body.expires_at, createdAt);
    const ids = await shareKinds[kind].find(services, requester, body.ids);
    const newShare = { kind, ids, createdAt, expiresAt, withTexts };
    const share = await createShare(services, accessChangerOf(call), newShare);
    return reply(201, { ...toShare(share), path: path.replace(":token", share.token) });
  },
});

const listLinks = route("GET", "/v1/shares", {
  needs: "read",
  id: "listShares",
  summary: "List links",
  description: "Lists the account's working links, without their secrets.",
  query: ShareListQuery,
  responses: { "200": response("The links, newest first", ShareListResponse, page(exampleShare)) },
  async handle({ store }: { store: Store }, { requester, query }) {
    const { rows, next } = await selectShares(
      store.briefReader(requester),
      requester.accountId,
      query.ids,
      nowMicros(),
      readKeysetPage(query),
    );
    return reply(200, { data: rows.map(toShare), next: toCursor(next) });
  },
});

const revokeLink = route("DELETE", "/v1/shares/:id", {
  needs: "evaluate",
  id: "revokeShare",
  summary: "Revoke a link",
  description: "Ends one of the account's links immediately, whoever created it.",
  params: SharePath,
  responses: { "204": { description: "The link no longer works" }, ...noSuch("share", "link") },
  async handle(services: { store: Store }, { requester, params }) {
    await revokeShare(services, requester, params.id.toLowerCase());
    return reply(204, undefined);
  },
});

export const shareRoutes = [createLink, listLinks, revokeLink];
