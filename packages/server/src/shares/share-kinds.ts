import type { ShareKind } from "@presage/contract";
import type { Exchange } from "../http/exchange.ts";
import { reserveBytes } from "../platform/limits/memory.ts";
import { selectNames } from "../platform/storage/rows.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { findCheck } from "../reality/checks.ts";
import { realityDocument } from "../reality/reality-document.ts";
import { describeCheck } from "../reality/show-check.ts";
import { makeComparison } from "../runs/compare/compare-route.ts";
import { comparisonDocument } from "../runs/compare/comparison-document.ts";
import { reportDocument } from "../runs/report/document.ts";
import type { ReportPart } from "../runs/report/pages.ts";
import { makeReport, type ReportServices } from "../runs/report/report-route.ts";
import { type FindNeeds, findRun } from "../runs/runs.ts";
import type { StoredShare } from "./shares-store.ts";
import { failingSamples, worseSamples } from "./shown-texts.ts";

export type PageServices = ReportServices & { store: Store };

/** A page for people who are not signed in. */
interface Shown {
  title: string;
  parts: readonly ReportPart[];
}

interface Showing {
  services: PageServices;
  exchange: Exchange;
  requester: Requester;
  share: StoredShare;
}

/** What can be shared: which ids it has, whether there is such a thing, and what a link to it shows. */
interface KindOfShare {
  /** What is wrong with how many ids there are. */
  idsIssue(ids: readonly string[]): string | undefined;
  /** The ids as they are stored. Throws `not_found` if the account has no such thing. */
  find(services: FindNeeds, requester: Requester, ids: readonly string[]): Promise<string[]>;
  show(showing: Showing): Promise<Shown>;
}

export const shareKinds: Record<ShareKind, KindOfShare> = {
  run: {
    idsIssue: ({ length }) => (length > 1 ? "a run has one id" : undefined),
    find: findRuns,
    async show({ services, exchange, requester, share }) {
      const { run, report } = await makeReport(services, exchange, requester, share.object);
      const withTexts = share.with_texts === 1;
      const { dataset_id: datasetId } = report.run;
      const dataset = (await namesOf(services, requester, [datasetId])).get(datasetId ?? "");
      const samples = withTexts ? await failingSamples(services, requester, run) : [];
      const parts = [...reportDocument(report, { dataset, withTexts }), ...samples];
      return { title: `Run ${run.name}`, parts };
    },
  },
  comparison: {
    idsIssue: (ids) =>
      ids.length < 2 || new Set(ids).size < ids.length
        ? "a comparison has two different ids or more"
        : undefined,
    find: findRuns,
    async show({ services, exchange, requester, share }) {
      const { runs, comparison } = await makeComparison(services, exchange, requester, share.object);
      const datasetIds = comparison.runs.map(({ dataset_id }) => dataset_id);
      const names = await namesOf(services, requester, datasetIds);
      const withTexts = share.with_texts === 1;
      const samples = withTexts ? await worseSamples(services, requester, runs, comparison) : [];
      const parts = [...comparisonDocument(comparison, names), ...samples];
      return { title: `Compared with ${runs[0].name}`, parts };
    },
  },
  "reality-check": {
    idsIssue: ({ length }) => (length > 1 ? "a reality check has one id" : undefined),
    find: async (services, requester, [id = ""]) => [(await findCheck(services, requester, id)).id],
    async show({ services, exchange, requester, share }) {
      const reserve = (bytes: number) => reserveBytes(exchange, bytes);
      const check = await describeCheck(services, requester, share.object, reserve);
      return { title: check.name, parts: realityDocument(check) };
    },
  },
};

async function findRuns(services: FindNeeds, requester: Requester, ids: readonly string[]) {
  const found: string[] = [];
  for (const id of ids) found.push((await findRun(services, requester, id)).id);
  return found;
}

function namesOf({ store }: PageServices, requester: Requester, ids: readonly (string | null)[]) {
  return selectNames(store.briefReader(requester), requester.accountId, ids);
}
