import type { ShareKind } from "@presage/contract";
import type { KeyDigest } from "../accounts/verify-api-key.ts";
import { type Call, keepOpen } from "../http/call.ts";
import { openSecretPage, type Route } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import { selectNames } from "../platform/storage/rows.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { makeComparison } from "../runs/compare/compare-route.ts";
import { comparisonDocument } from "../runs/compare/comparison-document.ts";
import { paragraph, reportDocument } from "../runs/report/document.ts";
import { type ReportPart, reportPolicy, toHtml } from "../runs/report/pages.ts";
import { makeReport, type ReportServices } from "../runs/report/report-route.ts";
import { findShare } from "./shares.ts";
import type { StoredShare } from "./shares-store.ts";
import { failingSamples, worseSamples } from "./shown-texts.ts";

type PageServices = ReportServices & { store: Store; keyDigest: KeyDigest };

/** A page for people who are not signed in. */
interface Shown {
  title: string;
  parts: readonly ReportPart[];
}

interface Showing {
  services: PageServices;
  exchange: Call["exchange"];
  requester: Requester;
  share: StoredShare;
}

/** What a link to each kind shows. */
const show: Record<ShareKind, (showing: Showing) => Promise<Shown>> = {
  async run({ services, exchange, requester, share }) {
    const { run, report } = await makeReport(services, exchange, requester, share.object);
    const withTexts = share.with_texts === 1;
    const names = await namesOf(services, requester, [run.dataset?.datasetId ?? null]);
    const dataset = names.get(run.dataset?.datasetId ?? "");
    const samples = withTexts ? await failingSamples(services, requester, run) : [];
    const parts = [...reportDocument(report, { dataset, withTexts }), ...samples];
    return { title: `Run ${run.name}`, parts };
  },
  async comparison({ services, exchange, requester, share }) {
    const { runs, comparison } = await makeComparison(services, exchange, requester, share.object);
    const datasetIds = runs.map(({ dataset }) => dataset?.datasetId ?? null);
    const names = await namesOf(services, requester, datasetIds);
    const samples = share.with_texts === 1 ? await worseSamples(services, requester, runs, comparison) : [];
    const parts = [...comparisonDocument(comparison, names), ...samples];
    return { title: `Compared with ${runs[0].name}`, parts };
  },
};

function namesOf({ store }: PageServices, requester: Requester, ids: readonly (string | null)[]) {
  return selectNames(store.briefReader(requester), requester.accountId, ids);
}

const path = "/share/:token";

/** Where a link leads, on this server. */
export function sharePath(token: string): string {
  return path.replace(":token", token);
}

/** Of one link, at most one page is made at a time: whoever opens it meanwhile gets the same one. */
export function sharePageRoutes(services: PageServices): Route[] {
  const inProgress = new Map<string, Promise<string>>();
  return [
    openSecretPage(path, async (call) => {
      keepOpen(call);
      const share = await findShare(services, call.request.params?.token ?? "");
      if (share === undefined) throw ended();
      const current = inProgress.get(share.id);
      const making = current ?? writePage(services, call, share).finally(() => inProgress.delete(share.id));
      if (current === undefined) inProgress.set(share.id, making);
      return new Response(await making, {
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
    const { title, parts } = await show[share.kind]({ services, exchange, requester, share });
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
