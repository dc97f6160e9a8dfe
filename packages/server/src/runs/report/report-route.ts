import {
  HeadlineFigures,
  type ListedRun,
  type RunFigures,
  RunPath,
  RunReport,
  RunReportQuery,
} from "@presage/contract";
import { selectDataset } from "../../datasets/datasets-store.ts";
import { noSuch } from "../../http/describe.ts";
import { reserveResponse } from "../../http/memory.ts";
import { reply, route } from "../../http/route.ts";
import { type Holder, reserveBytes } from "../../platform/limits/memory.ts";
import type { PriceList } from "../../platform/prices.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { type ClientCounts, clientMemoryBytes } from "../client/client-counts.ts";
import { exampleEvaluator, exampleFinishedRun, exampleProvenance, type Run, toRun } from "../run.ts";
import { findRun } from "../runs.ts";
import { reportDocument } from "./document.ts";
import { reportPolicy, toHtml, toMarkdown } from "./pages.ts";
import { reportMemoryBytes, reportRun } from "./report-run.ts";

export interface ReportServices {
  store: Store;
  clientCounts: ClientCounts;
  prices: PriceList;
}

const figures: RunFigures = {
  samples: 394,
  count: 388,
  without_verdict: 6,
  verdicts: 388,
  graded: 388,
  failed: 6,
  not_applicable: 0,
  trajectories: 12,
  effective_trajectories: 11.2,
  mean: 0.8,
  standard_error: 0.04,
  interval: { level: 0.95, lower: 0.694, upper: 0.876 },
  pass_rate: 0.75,
  pass_standard_error: 0.05,
  pass_interval: { level: 0.95, lower: 0.624, upper: 0.844 },
  unseen_share: 0.221,
  lower_if_missing: 0.541,
  pass_lower_if_missing: 0.486,
  mean_failures_as_zero: 0.788,
  pass_rate_failures_as_zero: 0.739,
  no_change: { mean: 0.31, pass_rate: 0.3, count: 388 },
  note: "With 12 trajectories, a kind that makes up 22 % of all may be missing here.",
};
export const exampleReport = {
  run: exampleFinishedRun,
  evaluators: [
    {
      ...exampleEvaluator,
      ...figures,
      strata: {
        step: [{ key: 0, ...figures }],
        trajectory: [{ key: "kitchen-1", ...figures }],
        changed: [{ key: "changed", ...figures }],
        changes: [{ key: "1-2", ...figures }],
        verb: [{ key: "open", ...figures }],
        tag: [{ key: "split=test", ...figures }],
      },
      strata_left_out: { step: 0, trajectory: 0, tag: 0 },
    },
  ],
  goal: { evaluator: "exact-match", profile_name: null, pass_rate: 0.6, state: "met", why: null },
  previous: null,
  latency_ms: { p50: 812.1, p95: 1_907.4, p99: 2_511.9 },
  predictions_per_second: 2.6,
  tokens: { prompt: 185_400, cached: 61_000, completion: 20_600 },
  cost: {
    currency: "USD",
    total: 0.0321,
    unpriced_tokens: 0,
    models: [
      {
        model: "presage-sandbox",
        prompt_tokens: 185_400,
        cached_tokens: 61_000,
        completion_tokens: 20_600,
        cost: 0.0321,
      },
    ],
  },
  failures: { predictions: { timeout: 4 }, evaluations: { failed: 2 } },
  preliminary: false,
  provenance: { ...exampleProvenance, statistics: 2, warnings: [] },
} satisfies RunReport;

export const exampleListedRun: ListedRun = {
  ...exampleFinishedRun,
  headline: {
    ...exampleEvaluator,
    ...HeadlineFigures.parse(figures),
    cost: { currency: "USD", total: 0.0321, unpriced_tokens: 0, per_1000: 0.0823 },
  },
  goal: exampleReport.goal,
};

/** With 1,000 steps and 20 evaluators it may be a few times as long. */
const usualReportBytes = 2_000_000;

/** A report as a page or as Markdown, in the document. */
export function documentContent(markdown: string) {
  const schema = { type: "string" } as const;
  return {
    "text/html": { schema, example: "<!doctype html>" },
    "text/markdown": { schema, example: markdown },
  };
}

const getReport = route("GET", "/v1/runs/:id/report", {
  needs: "read",
  id: "getRunReport",
  summary: "Report on a run",
  description:
    "Returns a run's figures so far: scores and pass rates with intervals clustered by trajectory, overall and by groups of samples, next to the no-change baseline. An external run's report is made of the results that name it in experiment_id or evaluation_run_id. As JSON, as one HTML page without scripts, or as Markdown.",
  params: RunPath,
  query: RunReportQuery,
  responses: {
    "200": {
      description: "The report",
      content: {
        "application/json": { schema: RunReport, example: exampleReport },
        ...documentContent("# Run sandbox, teacher-forced"),
      },
    },
    ...noSuch("run"),
  },
  async handle(services: ReportServices, { call, requester, params, query }) {
    const { report } = await makeReport(services, call.exchange, requester, params.id);
    const format = query.format ?? preferredFormat(call.request.headers);
    if (format === "json") return reply(200, report, { vary: "accept" });
    const text = await writeReport(services, requester, report, format);
    return documentResponse(`report-${report.run.id}`, format, text);
  },
});

export const runReportRoutes = [getReport];

/** A run with its report, within the memory of a request. */
export async function makeReport(
  services: ReportServices,
  exchange: Holder,
  requester: Requester,
  id: string,
): Promise<{ run: Run; report: RunReport }> {
  const run = await findRun(services, requester, id);
  const ofClients = await clientMemoryBytes(services, requester, [run]);
  reserveBytes(exchange, reportMemoryBytes(run) + ofClients);
  const findings = await reportRun(services, requester, run, services.prices.current());
  // The client may read slowly.
  reserveResponse(exchange, usualReportBytes);
  return { run, report: { run: toRun(run), ...findings } };
}

/** A report for people, as a page or as Markdown. */
export async function writeReport(
  { store }: { store: Store },
  requester: Requester,
  report: RunReport,
  format: "html" | "md",
): Promise<string> {
  const { name, dataset_id: id } = report.run;
  const dataset =
    id === null ? undefined : await selectDataset(store.briefReader(requester), requester.accountId, id);
  const document = reportDocument(report, { dataset: dataset?.name });
  return format === "md" ? toMarkdown(document) : toHtml(`Run ${name}`, document);
}

/** Browsers ask for HTML. */
export function preferredFormat(headers: Headers): "json" | "html" {
  const accept = headers.get("accept") ?? "";
  return /text\/html/i.test(accept) && !/application\/json/i.test(accept) ? "html" : "json";
}

/** To be saved: opened from here, a page would have the origin of the dashboard. */
export function documentResponse(name: string, format: "html" | "md", text: string): Response {
  return new Response(text, {
    headers: {
      "content-type": `text/${format === "html" ? "html" : "markdown"}; charset=utf-8`,
      "content-security-policy": reportPolicy,
      "content-disposition": `attachment; filename="${name}.${format}"`,
      "cache-control": "no-store",
      vary: "accept",
    },
  });
}
