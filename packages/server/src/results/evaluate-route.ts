import {
  EvaluateRequest,
  EvaluateResponse,
  type EvaluationResult,
  type ValidationError,
} from "@presage/contract";
import { z } from "zod";
import {
  itemJson,
  type NamedReference,
  type NewItem,
  readReferences,
  readSample,
  withOldItemNames,
} from "../evaluators/old-names.ts";
import { charactersOf, type Sample } from "../evaluators/outcome.ts";
import {
  findEvaluatorIssues,
  InvalidEvaluatorsError,
  toEvaluatorIssues,
} from "../evaluators/resolve-evaluators.ts";
import { spenderOf } from "../http/caller.ts";
import { body, budgetSpent, errorResponse, response, unavailable } from "../http/describe.ts";
import { admit, countUsage, type HttpServices } from "../http/exchange.ts";
import { reserveResults } from "../http/memory.ts";
import { readExactBody, readIdempotencyKey } from "../http/request.ts";
import { isLongResponse } from "../http/response.ts";
import { reply, route } from "../http/route.ts";
import { InvalidRequestError, missing } from "../http/validate.ts";
import { ServiceError } from "../platform/errors.ts";
import type { Admission } from "../platform/limits/admission.ts";
import { type EvaluateServices, type Evaluation, type EvaluationRequest, evaluate } from "./evaluate.ts";
import examples from "./examples.json" with { type: "json" };
import { readResultMetadata, toEvaluationResult } from "./result.ts";

const headers = z.object({
  "Idempotency-Key": z
    .string()
    .regex(/^[!-~]{1,200}$/)
    .optional()
    .meta({
      description:
        "Identifies the request, so that it can be retried safely: a repeated request gets the stored verdicts. If both arrive at the same time, the second waits for the first.",
    }),
});

/** The body is read by the handler, once the request is admitted. */
const evaluateSample = route("POST", "/v1/evaluate", {
  needs: "evaluate",
  id: "evaluate",
  summary: "Evaluate a sample with one or more evaluators",
  description:
    "Runs 1 to 20 evaluators on one sample, concurrently, and stores the results before it responds. A family's `required_input_fields` and `optional_input_fields` say which texts its evaluators read. An evaluator that fails does not make the request fail: its outcome has a status and an error message instead of a verdict.",
  hasOldNames: true,
  more: { requestParams: { header: headers }, requestBody: body(EvaluateRequest, examples.evaluation) },
  responses: {
    "200": response("The outcome of each evaluator, in request order", EvaluateResponse, {
      results: [{ ...examples.evaluated, evaluation_result: examples.result, result: examples.result }],
    }),
    ...budgetSpent,
    "409": errorResponse(
      "evaluation_run_id is a run whose results Presage makes",
      "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41 is a run whose results Presage makes. Leave evaluation_run_id out, or name an experiment.",
    ),
    "413": errorResponse(
      "The body is too large, or its texts are too long for this many evaluators",
      "20 evaluators × 2000000 characters exceed the limit of 33554432; use at most 16 evaluators in one request.",
    ),
    "429": errorResponse(
      "The rate of the key or its account was reached, or one of them has too many requests in progress (rate_limit)",
      "At most 120 evaluation requests per minute are allowed for an account.",
      { category: "rate_limit" },
    ),
    "503": {
      ...unavailable["503"],
      description:
        "The database is unavailable, too many evaluations are in progress, or the server is out of memory for this request, and nothing was stored; or the database did not confirm the results, which may or may not be stored",
    },
  },
  async handle(
    services: EvaluateServices & Pick<HttpServices, "settings"> & { evaluationAdmission: Admission },
    { call, requester },
  ) {
    const { maxBodyBytes } = services.settings;
    const { request, exchange, caller } = call;
    const { accountId } = caller;
    countUsage(call, "evaluate");
    await admit(services.evaluationAdmission, call);
    const body = await readExactBody(call, EvaluateRequest, maxBodyBytes);
    const references = readReferences(body);
    const sample = readSample(body);
    const issues = missingFields(body, references, sample);
    if (issues.length > 0) {
      const ofEvaluators = await findEvaluatorIssues(services, accountId, references);
      throw new InvalidRequestError([...issues, ...toEvaluatorIssues(ofEvaluators, references)]);
    }
    refuseTooMuch(sample, references.length, maxBodyBytes);
    const capture = body.capture ?? "all";
    const stored = capture === "none" ? 0 : references.length;
    const reserveForResponse = reserveResults(exchange, {
      stored,
      storedCharacters: stored * charactersOf(sample),
      isResponseLong: isLongResponse(Array.from({ length: 2 * references.length }, () => sample)),
    });
    const evaluationRequest: EvaluationRequest = {
      accountId,
      actor: requester.actor,
      keyId: spenderOf(caller).keyId,
      sample,
      evaluators: references,
      metadata: readResultMetadata(body),
      project: body.project_name ? { name: body.project_name, userId: caller.userId } : undefined,
      capture,
      hasConfidenceInterval: body.confidence_interval_strategy === "full-history",
      idempotencyKey: readIdempotencyKey(request.headers),
      span: exchange.span,
    };
    const evaluations = await evaluate(services, evaluationRequest, request.signal).catch(
      (error: unknown) => {
        if (!(error instanceof InvalidEvaluatorsError)) throw error;
        throw new InvalidRequestError(toEvaluatorIssues(error.issues, references), error);
      },
    );
    const items = toResponseItems(evaluations);
    const isLong = isLongResponse(items);
    reserveForResponse(isLong);
    if (!isLong) return toShortResponse(items);
    return reply(200, { results: items.map(([item, result]) => withOldItemNames(item, result)) });
  },
});

export const evaluateRoutes = [evaluateSample];

/** The schema cannot express that evaluators, and something to evaluate, are required under either of two names. */
function missingFields(
  body: EvaluateRequest,
  references: readonly NamedReference[],
  { input, output }: Sample,
): ValidationError[] {
  return [
    ...(references.length === 0 ? [missing(["body", "evaluators"], body)] : []),
    ...(input === undefined && output === undefined
      ? [missing(["body", "evaluated_model_output"], body)]
      : []),
  ];
}

/** Every evaluator's result contains the texts: once in the store and four times in the response, twice under new names and old. */
function refuseTooMuch(sample: Sample, evaluators: number, maxBodyBytes: number): void {
  const characters = charactersOf(sample);
  if (characters * evaluators <= 2 * maxBodyBytes) return;
  throw new ServiceError(
    "evaluation_too_large",
    `${evaluators} evaluators × ${characters} characters exceed the limit of ${2 * maxBodyBytes}; use at most ${Math.floor((2 * maxBodyBytes) / characters)} evaluators in one request.`,
  );
}

type ResponseItem = [item: NewItem, result: EvaluationResult | null];

function toResponseItems(evaluations: readonly Evaluation[]): ResponseItem[] {
  return evaluations.map((evaluation) => [
    toItem(evaluation),
    evaluation.outcome.status === "success" ? toEvaluationResult(evaluation) : null,
  ]);
}

function toShortResponse(items: readonly ResponseItem[]): Response {
  const json = `{"results":[${items.map(([item, result]) => itemJson(item, result)).join(",")}]}`;
  return new Response(json, { headers: { "content-type": "application/json;charset=utf-8" } });
}

function toItem(evaluation: Evaluation): NewItem {
  const { outcome, evaluatorId, profile } = evaluation;
  const profileName = profile?.name ?? "";
  const isWithout = outcome.status !== "success" && "id" in evaluation;
  return {
    evaluator_id: evaluatorId,
    profile_name: profileName,
    criteria: profileName,
    status: outcome.status,
    error_message: outcome.errorMessage ?? null,
    ...(isWithout && { result_id: String(evaluation.id) }),
  };
}
