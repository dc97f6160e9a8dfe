import { RunPath, type RunReport, RunReportQuery } from "@presage/contract";
import type { Services } from "../../app/services.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { logBrokenResponse } from "../../http/log-broken-response.ts";
import { readKnownQuery, readPath } from "../../http/read-request.ts";
import { requesterOf } from "../../http/requester-of.ts";
import { reserveResponse } from "../../http/reserve-memory.ts";
import { type Route, withCaller } from "../../http/route.ts";
import { reserveBytes } from "../../platform/limits/byte-budget.ts";
import { externalMemoryBytes } from "../external/external-memory.ts";
import { findRun } from "../find-run.ts";
import { toRun } from "../run-response.ts";
import { reportMemoryBytes, reportRun } from "./report-run.ts";
import { reportPolicy } from "./to-html.ts";
import { writeReport } from "./write-report.ts";

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
