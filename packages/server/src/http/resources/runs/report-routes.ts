import { RunPath, type RunReport, RunReportQuery } from "@presage/contract";
import { findRun } from "../../../evaluation/runs/find-run.ts";
import { reportMemoryBytes, reportRun } from "../../../evaluation/runs/report/report-run.ts";
import { reserveBytes } from "../../../limits/byte-budget.ts";
import { keepOpen } from "../../pipeline/keep-open.ts";
import { type Route, withCaller } from "../../pipeline/route.ts";
import { readPath, readQuery } from "../../request/read-request.ts";
import { requesterOf } from "../../request/requester-of.ts";
import { refuseUnknownFields } from "../../request/validate.ts";
import { jsonResponse } from "../../response/json-response.ts";
import { logBrokenResponse } from "../../response/log-broken-response.ts";
import type { Services } from "../../services.ts";
import { toRun } from "./run-response.ts";

export function runReportRoutes(services: Services): Route[] {
  const { evaluation } = services;
  return [
    withCaller("GET", "/v1/runs/:id/report", async (call) => {
      const { id } = readPath(call, RunPath);
      const query = readQuery(call, RunReportQuery);
      refuseUnknownFields(RunReportQuery, query, "query");
      const run = await findRun(evaluation, requesterOf(call), id);
      reserveBytes(call.exchange, reportMemoryBytes(run));
      keepOpen(call);
      const report: RunReport = {
        run: toRun(run),
        ...(await reportRun(evaluation, requesterOf(call), run)),
      };
      return jsonResponse(report, undefined, logBrokenResponse(services, call));
    }),
  ];
}
