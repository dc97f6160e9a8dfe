import {
  type Run,
  type RunEvaluator,
  type RunFigures,
  RunPath,
  RunReport,
  RunReportQuery,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import type { Services } from "../../app/services.ts";
import { selectDataset } from "../../datasets/datasets-store.ts";
import { requesterOf } from "../../http/call.ts";
import { noSuch, operation } from "../../http/describe.ts";
import { reserveResponse } from "../../http/memory.ts";
import { readKnownQuery, readPath } from "../../http/request.ts";
import { jsonResponse, logBrokenResponse } from "../../http/response.ts";
import { type Route, withCaller } from "../../http/route.ts";
import { reserveBytes } from "../../platform/limits/memory.ts";
import type { Requester } from "../../platform/storage/store.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import { externalMemoryBytes } from "../external/external-counts.ts";
import { findRun } from "../find-run.ts";
import { toRun } from "../runs-route.ts";
import { reportDocument, reportPolicy, toHtml, toMarkdown } from "./document.ts";
import { reportMemoryBytes, reportRun } from "./report-run.ts";

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
const provenance = {
  presage_version: "0.1.0",
  prompt_version: "1",
  dataset_digest: "5e0e4cb1d3ab5ae1b3d7a0e1d1a8f5f3f0cf9f0d41d6b8cbb06f1c4b7b0f2a91",
  models: ["presage-sandbox"],
  in_sample: false,
};
const evaluator = {
  evaluator: "exact-match-2026-11-21",
  profile_name: "system:default",
  profile_id: "7a2c3b1e-5d7f-5c0a-9a44-0b8f7a6d2e10",
  profile_revision: 1,
};

export const exampleFinishedRun = {
  id: "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41",
  name: "sandbox, teacher-forced",
  status: "finished",
  status_reason: null,
  progress: {
    samples: 394,
    predicted: 390,
    evaluated: 394,
    failed: 6,
    failed_predictions: 4,
    without_verdict: 2,
    answers: { truncated: 3, empty: 0, repaired: 0 },
    tries: { retried: { upstream: 12 }, timed_out: 4, at_once: 3 },
  },
  dataset_id: "019aa5f4-2c61-7000-b5a7-41d27c0c9e33",
  revision: 1,
  target: { deployment: "sandbox" },
  params: { temperature: 0 },
  mode: "teacher-forced",
  evaluators: [evaluator] as [RunEvaluator],
  repeats: 1,
  concurrency: 16,
  tags: null,
  provenance,
  notes: [],
  created_by: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59",
  created_at: "2026-11-22T03:50:11.102Z",
  started_at: "2026-11-22T03:50:11.150Z",
  finished_at: "2026-11-22T03:52:40.020Z",
} satisfies Run;

export const exampleReport = {
  run: exampleFinishedRun,
  evaluators: [
    {
      ...evaluator,
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
  provenance: { ...provenance, statistics: 2, warnings: [] },
} satisfies RunReport;

export const runReportPaths: ZodOpenApiPathsObject = {
  "/v1/runs/{id}/report": {
    get: operation("getRunReport", "runs", "Report on a run", {
      description:
        "Returns a run's figures so far: scores and pass rates with intervals clustered by trajectory, overall and by groups of samples, next to the no-change baseline. An external run's report is made of the results that name it in experiment_id or evaluation_run_id. As JSON, as one HTML page without scripts, or as Markdown.",
      requestParams: { path: RunPath, query: RunReportQuery },
      responses: {
        "200": {
          description: "The report",
          content: {
            "application/json": { schema: RunReport, example: exampleReport },
            "text/html": { schema: { type: "string" }, example: "<!doctype html>" },
            "text/markdown": { schema: { type: "string" }, example: "# Run sandbox, teacher-forced" },
          },
        },
        ...noSuch("run"),
      },
    }),
  },
};

/** A report for people, as a page or as Markdown. */
export async function writeReport(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  report: RunReport,
  format: "html" | "md",
): Promise<string> {
  const { name, dataset_id: id } = report.run;
  const dataset =
    id === null ? undefined : await selectDataset(store.briefReader(requester), requester.accountId, id);
  const document = reportDocument(report, dataset?.name);
  return format === "md" ? toMarkdown(document) : toHtml(`Run ${name}`, document);
}

/** With 1,000 steps and 20 evaluators it may be a few times as long. */
const usualReportBytes = 2_000_000;

export function runReportRoutes(services: Services): Route[] {
  const { evaluation } = services;
  return [
    withCaller("GET", "/v1/runs/:id/report", "read", async (call) => {
      const { id } = readPath(call, RunPath);
      const query = readKnownQuery(call, RunReportQuery);
      const run = await findRun(evaluation, requesterOf(call), id);
      const external = await externalMemoryBytes(evaluation, requesterOf(call), [run]);
      reserveBytes(call.exchange, reportMemoryBytes(run) + external);
      const report: RunReport = {
        run: toRun(run),
        ...(await reportRun(evaluation, requesterOf(call), run, services.prices.current())),
      };
      // The client may read slowly.
      reserveResponse(call.exchange, usualReportBytes);
      const format = query.format ?? preferredFormat(call.request.headers.get("accept") ?? "");
      if (format === "json")
        return jsonResponse(report, { headers: { vary: "accept" } }, logBrokenResponse(services, call));
      const text = await writeReport(evaluation, requesterOf(call), report, format);
      return documentResponse(id, format, text);
    }),
  ];
}

/** Browsers ask for HTML. */
function preferredFormat(accept: string): "json" | "html" {
  return /text\/html/i.test(accept) && !/application\/json/i.test(accept) ? "html" : "json";
}

/** To be saved: opened from here, a page would have the origin of the dashboard. */
function documentResponse(id: string, format: "html" | "md", text: string): Response {
  return new Response(text, {
    headers: {
      "content-type": `text/${format === "html" ? "html" : "markdown"}; charset=utf-8`,
      "content-security-policy": reportPolicy,
      "content-disposition": `attachment; filename="report-${id}.${format}"`,
      "cache-control": "no-store",
      vary: "accept",
    },
  });
}

/** A share at a step. */
export interface ChartPoint {
  step: number;
  share: number;
  interval: { lower: number; upper: number } | null;
  baseline: number | null;
}

const area = { left: 48, right: 668, top: 10, bottom: 190 };
const mostTicks = 10;
const mostDots = 60;

/** Shares by step as a picture, which has no texts but numbers. */
export function chartSvg(points: readonly ChartPoint[]): string {
  const first = points[0]?.step ?? 0;
  const span = Math.max(1, (points.at(-1)?.step ?? 0) - first);
  const x = (step: number) => (area.left + ((step - first) / span) * (area.right - area.left)).toFixed(1);
  const y = (share: number) => (area.bottom - share * (area.bottom - area.top)).toFixed(1);
  const at = (step: number, share: number) => `${x(step)},${y(share)}`;
  const known = points.flatMap(({ step, interval }) => (interval === null ? [] : { step, ...interval }));
  const upper = known.map((one) => at(one.step, one.upper));
  const lower = known.map((one) => at(one.step, one.lower)).reverse();
  const unchanged = points.flatMap(({ step, baseline }) => (baseline === null ? [] : at(step, baseline)));
  const ticks = Array.from(
    { length: mostTicks + 1 },
    (_, index) => first + Math.round((span * index) / mostTicks),
  );
  return [
    `<svg viewBox="0 0 ${area.right + 12} ${area.bottom + 40}" aria-hidden="true">`,
    ...[0, 0.25, 0.5, 0.75, 1].map(
      (share) =>
        `<line x1="${area.left}" x2="${area.right}" y1="${y(share)}" y2="${y(share)}"/><text class="y" x="${area.left - 6}" y="${y(share)}" dy=".35em">${100 * share} %</text>`,
    ),
    ...Array.from(new Set(ticks), (step) => `<text x="${x(step)}" y="${area.bottom + 16}">${step}</text>`),
    `<text x="${x(first + span / 2)}" y="${area.bottom + 34}">Step</text>`,
    `<polygon points="${[...upper, ...lower].join(" ")}"/>`,
    ...(unchanged.length === 0 ? [] : [`<polyline class="unchanged" points="${unchanged.join(" ")}"/>`]),
    `<polyline points="${points.map(({ step, share }) => at(step, share)).join(" ")}"/>`,
    ...(points.length > mostDots ? [] : points).map(
      ({ step, share }) => `<circle cx="${x(step)}" cy="${y(share)}" r="2.5"/>`,
    ),
    "</svg>",
  ].join("\n");
}
