import type { KeyDigest } from "../accounts/verify-api-key.ts";
import { type Call, keepOpen } from "../http/call.ts";
import { openSecretPage, type Route } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import type { Requester } from "../platform/storage/store.ts";
import { paragraph, reportPolicy, toHtml } from "../runs/report/pages.ts";
import { type PageServices, shareKinds } from "./share-kinds.ts";
import { findShare } from "./shares.ts";
import type { StoredShare } from "./shares-store.ts";

const path = "/share/:token";

/** Where a link leads, on this server. */
export function sharePath(token: string): string {
  return path.replace(":token", token);
}

/** Of one link, at most one page is made at a time: whoever opens it meanwhile gets the same one. */
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
      // It may have been revoked meanwhile.
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

/** For all who wait for it, also if the first one leaves. */
const unending = new AbortController().signal;

async function writePage(services: PageServices, { exchange }: Call, share: StoredShare): Promise<string> {
  const requester: Requester = { accountId: share.account_id, signal: unending };
  try {
    const { title, parts } = await shareKinds[share.kind].show({ services, exchange, requester, share });
    const until = new Date(share.expires_at / 1_000).toISOString().slice(0, "2026-01-31".length);
    return toHtml(title, [...parts, paragraph(`Made with Presage. This link works until ${until}.`)], true);
  } catch (error) {
    if (error instanceof ServiceError && error.code === "not_found") throw ended();
    throw error;
  }
}

/** The same text whether there was such a link or not. */
function ended(): ServiceError {
  return new ServiceError(
    "not_found",
    "This link does not work: it has ended, or what it showed is gone. Ask whoever sent it for a new one.",
  );
}
