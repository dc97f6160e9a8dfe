import {
  ClientEvaluationBatchRequest,
  type ClientEvaluationBatchResponse,
  EvaluationResultBatchRequest,
  type EvaluationResultBatchResponse,
} from "@presage/contract";
import type { Services } from "../app/services.ts";
import { toExternalName, charactersOf } from "../evaluators/outcome.ts";
import { digestOf, readExactBody, readIdempotencyKey, readOnce } from "../http/read-request.ts";
import { requesterOf } from "../http/requester-of.ts";
import { reserveResults } from "../http/reserve-memory.ts";
import { type CallWithCaller, type Route, withCaller } from "../http/route.ts";
import { toIsoInstant } from "../platform/storage/micros.ts";
import type { Once } from "../platform/storage/once.ts";
import { type ImportedResult, type ImportReceipt, importResults } from "./import-results.ts";
import { readClientEvaluations, readImportedResults } from "./read-imported-result.ts";

/** The two ways in for results of other tools: under Presage's names, and as a client sends those of its own evaluators. */
export function resultImportRoutes(services: Services): Route[] {
  const { maxBodyBytes } = services.settings;

  async function store(
    call: CallWithCaller,
    results: readonly ImportedResult[],
    once: Once | undefined,
  ): Promise<ImportReceipt[]> {
    const storedCharacters = results.reduce((sum, result) => sum + charactersOfImport(result), 0);
    reserveResults(call.exchange, { stored: results.length, storedCharacters, isResponseLong: false });
    return await importResults(services.evaluation, requesterOf(call), results, once);
  }

  return [
    withCaller("POST", "/v1/evaluation-results/batch", "evaluate", async (call) => {
      const body = await readExactBody(call, EvaluationResultBatchRequest, maxBodyBytes);
      const results = readImportedResults(body.evaluation_results, call.caller.userId);
      const receipts = await store(call, results, readOnce(call, "import results", body));
      const response: EvaluationResultBatchResponse = { evaluation_results: receipts.map(toJson) };
      return Response.json(response, { status: 201 });
    }),
    withCaller("POST", "/v1/evaluations/batch", "evaluate", async (call) => {
      const body = await readExactBody(call, ClientEvaluationBatchRequest, maxBodyBytes);
      const { evaluations } = body;
      // The client repeats a batch until it succeeds, and sends no key. Its ids tell the batch from every other one.
      const key = readIdempotencyKey(call.request.headers) ?? digestOf(body);
      const results = readClientEvaluations(evaluations, call.caller.userId);
      const receipts = await store(call, results, readOnce(call, "import evaluations", body, key));
      const response: ClientEvaluationBatchResponse = {
        evaluations: receipts.map((receipt, index) => ({
          ...toJson(receipt),
          log_id: evaluations[index]?.log_id ?? "",
          evaluation_type: "client_evaluation",
        })),
      };
      return Response.json(response, { status: 201 });
    }),
  ];
}

function charactersOfImport({ sample, outcome: { explanation = "", extra = {} } }: ImportedResult): number {
  return charactersOf(sample) + explanation.length + JSON.stringify(extra).length;
}

function toJson({ id, app, createdAt, evaluatorId }: ImportReceipt) {
  return {
    id: String(id),
    app,
    created_at: toIsoInstant(createdAt),
    evaluator_id: toExternalName(evaluatorId),
  };
}
