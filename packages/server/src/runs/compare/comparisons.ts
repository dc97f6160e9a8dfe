import {
  type ComparedSample,
  ComparedSampleListQuery,
  type ComparedSampleListResponse,
  type Comparison,
  ComparisonQuery,
  defaultPageLimit,
} from "@presage/contract";
import type { Services } from "../../app/services.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { logBrokenResponse } from "../../http/log-broken-response.ts";
import { readKnownQuery } from "../../http/read-request.ts";
import { requesterOf } from "../../http/requester-of.ts";
import { reserveResponse } from "../../http/reserve-memory.ts";
import { type CallWithCaller, type Route, withCaller } from "../../http/route.ts";
import { reserveBytes } from "../../platform/limits/byte-budget.ts";
import { externalMemoryBytes } from "../external/external-memory.ts";
import { findRun } from "../find-run.ts";
import type { Run } from "../run.ts";
import { toRun } from "../run-response.ts";
import { compareRuns } from "./compare-runs.ts";
import type { ComparedSampleRow } from "./compared-samples-store.ts";
import { comparisonMemoryBytes } from "./comparison-memory.ts";
import { listComparedSamples } from "./list-compared-samples.ts";

const path = "/v1/comparisons";
const usualComparisonBytes = 2_000_000;

export function comparisonRoutes(services: Services): Route[] {
  const { evaluation } = services;

  async function findRuns(call: CallWithCaller, ids: string): Promise<[Run, ...Run[]]> {
    const [first = "", ...others] = ids.split(",");
    const find = (id: string) => findRun(evaluation, requesterOf(call), id);
    const runs: [Run, ...Run[]] = [await find(first)];
    for (const id of others) runs.push(await find(id));
    return runs;
  }

  return [
    withCaller("GET", path, "read", async (call) => {
      const query = readKnownQuery(call, ComparisonQuery);
      const runs = await findRuns(call, query.runs);
      const external = await externalMemoryBytes(evaluation, requesterOf(call), runs);
      reserveBytes(call.exchange, comparisonMemoryBytes(runs) + external);
      const { leftOut, ...differences } = await compareRuns(evaluation, requesterOf(call), runs);
      // The client may read slowly.
      reserveResponse(call.exchange, usualComparisonBytes);
      const comparison: Comparison = {
        runs: runs.map((run, place) => ({ ...toRun(run), left_out: leftOut[place] ?? 0 })),
        ...differences,
      };
      return jsonResponse(comparison, undefined, logBrokenResponse(services, call));
    }),
    withCaller("GET", `${path}/samples`, "read", async (call) => {
      const query = readKnownQuery(call, ComparedSampleListQuery);
      const [reference, candidate = reference] = await findRuns(call, query.runs);
      const { evaluator, profile_name: profileName, direction } = query;
      const [distance, position] = query.after?.split(".").map(Number) ?? [];
      const { samples, next } = await listComparedSamples(
        evaluation,
        requesterOf(call),
        { reference, candidate, evaluator, profileName, direction },
        {
          limit: Number(query.limit ?? defaultPageLimit),
          after: distance === undefined || position === undefined ? undefined : { distance, position },
        },
      );
      const response: ComparedSampleListResponse = {
        data: samples.map(toComparedSample),
        next: next === undefined ? null : `${next.distance}.${next.position}`,
      };
      return Response.json(response);
    }),
  ];
}

function toComparedSample(row: ComparedSampleRow): ComparedSample {
  return {
    dataset_sample_id: row.sample_id,
    trajectory_id: row.trajectory_id,
    step: row.step,
    difference:
      row.candidate_score === null || row.reference_score === null
        ? row.candidate_pass_rate - row.reference_pass_rate
        : row.candidate_score - row.reference_score,
    reference: {
      position: row.reference_position,
      score: row.reference_score,
      pass_rate: row.reference_pass_rate,
      evaluation_result_id: toResultId(row.reference_result_id),
    },
    candidate: {
      position: row.candidate_position,
      score: row.candidate_score,
      pass_rate: row.candidate_pass_rate,
      evaluation_result_id: toResultId(row.candidate_result_id),
    },
  };
}

function toResultId(id: number | null): string | null {
  return id === null ? null : String(id);
}
