import { RunPath, RunReport, RunReportQuery } from "@presage/contract";
import { selectDataset } from "../../datasets/datasets-store.ts";
import { noSuch } from "../../http/describe.ts";
import { reserveResponse } from "../../http/memory.ts";
import { reply, route } from "../../http/route.ts";
import { type Holder, reserveBytes } from "../../platform/limits/memory.ts";
import type { PriceList } from "../../platform/prices.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { type ClientCounts, clientMemoryBytes } from "../client/client-counts.ts";
import examples from "../examples.json" with { type: "json" };
import { type Run, toRun } from "../run.ts";
import { findRun } from "../runs.ts";
import { reportDocument } from "./document.ts";
import { reportPolicy, toHtml, toMarkdown } from "./pages.ts";
import { reportMemoryBytes, reportRun } from "./report-run.ts";

export interface ReportServices {
  store: Store;
  clientCounts: ClientCounts;
  prices: PriceList;
}

/** With 1,000 steps and 20 evaluators it may be a few times as long. */
const usualReportBytes = 2_000_000;

const { figures, finishedRun } = examples;
export const exampleReport = {
  ...examples.report,
  run: finishedRun,
  evaluators: [
    {
      ...finishedRun.evaluators[0],
      ...figures,
      baseline: examples.headlined.headline.baseline,
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
};

/** A report as a page or as Markdown, in the OpenAPI document. */
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
    "Returns a run's figures so far: scores and pass rates with intervals clustered by trajectory, overall and by groups of samples, next to the best baseline. An external run's report is made of the results that name it in experiment_id or evaluation_run_id. As JSON, as one HTML page without scripts, or as Markdown.",
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
async function writeReport(
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

/** A file to save: if it were opened from here, the page would have the dashboard's origin. */
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
