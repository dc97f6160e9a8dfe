import { EvaluateRequest, type EvaluationResult, type ValidationError } from "@presage/contract";
import { ServiceError } from "../../../errors.ts";
import { type Evaluation, evaluate } from "../../../evaluation/evaluate/evaluate.ts";
import {
  type EvaluationRequest,
  type EvaluatorIssue,
  InvalidEvaluatorsError,
  type WantedEvaluator,
} from "../../../evaluation/evaluate/evaluation-request.ts";
import { findEvaluatorIssues } from "../../../evaluation/evaluate/resolve-evaluators.ts";
import { charactersOf, type Sample } from "../../../evaluation/sample.ts";
import { countUsage } from "../../pipeline/count-usage.ts";
import { holdResults } from "../../pipeline/hold-memory.ts";
import { type Route, withCaller } from "../../pipeline/route.ts";
import {
  itemJson,
  type NamedReference,
  type NewItem,
  readReferences,
  readSample,
  withOldItemNames,
} from "../../request/deprecations.ts";
import { readFiling } from "../../request/read-filing.ts";
import { readIdempotencyKey } from "../../request/read-idempotency-key.ts";
import { readExactBody } from "../../request/read-request.ts";
import { ValidationFailure } from "../../request/validation.ts";
import { answerJson, isLongAnswer } from "../../response/answer-json.ts";
import { logBrokenResponse } from "../../response/log-broken-response.ts";
import type { Services } from "../../services.ts";
import { toEvaluationResult } from "../results/evaluation-result.ts";

export function evaluateRoutes(services: Services): Route[] {
  const { evaluationsInFlight } = services;
  const { maxBodyBytes } = services.settings;
  return [
    withCaller("POST", "/v1/evaluate", async (call) => {
      const { request, exchange, caller } = call;
      const { accountId } = caller;
      countUsage(call, "evaluate");
      evaluationsInFlight.enter(accountId);
      exchange.atEnd = () => evaluationsInFlight.leave(accountId);
      const body = await readExactBody(call, EvaluateRequest, maxBodyBytes);
      const references = readReferences(body);
      const evaluators = references.map(toWanted);
      const sample = readSample(body);
      const faults = faultsOf(body, references, sample);
      if (faults.length > 0) {
        const issues = await findEvaluatorIssues(services, accountId, evaluators);
        throw new ValidationFailure([...faults, ...toFaults(issues, references)]);
      }
      refuseTooMuch(sample, evaluators.length, maxBodyBytes);
      const capture = body.capture ?? "all";
      const kept = capture === "none" ? 0 : evaluators.length;
      const holdAnswer = holdResults(exchange, {
        kept,
        keptCharacters: kept * charactersOf(sample),
        isAnswerLong: isLongAnswer(Array.from({ length: 2 * evaluators.length }, () => sample)),
      });
      const evaluationRequest: EvaluationRequest = {
        accountId,
        sample,
        evaluators,
        filing: readFiling(body),
        capture,
        hasConfidenceInterval: body.confidence_interval_strategy === "full-history",
        idempotencyKey: readIdempotencyKey(request.headers),
      };
      const evaluations = await evaluate(services, evaluationRequest, request.signal).catch(
        (error: unknown) => {
          if (!(error instanceof InvalidEvaluatorsError)) throw error;
          throw new ValidationFailure(toFaults(error.issues, references));
        },
      );
      const answer = toAnswerItems(evaluations);
      const isLong = isLongAnswer(answer);
      holdAnswer(isLong);
      if (!isLong) return toShortAnswer(answer);
      const results = answer.map(([item, result]) => withOldItemNames(item, result));
      return answerJson({ results }, undefined, logBrokenResponse(services, call));
    }),
  ];
}

/** What the schema cannot say: there are evaluators, and something to evaluate, by one name or another. */
function faultsOf(
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

/** Every evaluator's result holds the texts, in the store once and in the answer four times: under new names and old, twice. */
function refuseTooMuch(sample: Sample, evaluators: number, maxBodyBytes: number): void {
  const characters = charactersOf(sample);
  if (characters * evaluators <= 2 * maxBodyBytes) return;
  throw new ServiceError(
    "body_too_large",
    `Each of the ${evaluators} evaluators would keep all ${characters} characters, and a request may have ${2 * maxBodyBytes} of them in all. Name ${Math.floor((2 * maxBodyBytes) / characters)} evaluators at most, and the others in another request.`,
  );
}

/** A reference that names no evaluator is refused with those that name an unknown one. */
function toWanted({
  evaluator = "",
  profileName,
  explainStrategy = "always",
}: NamedReference): WantedEvaluator {
  return { evaluator, profileName, explainStrategy };
}

function toFaults(
  issues: readonly EvaluatorIssue[],
  references: readonly NamedReference[],
): ValidationError[] {
  return issues.flatMap(({ index, field, message }) => {
    const reference = references[index];
    if (reference === undefined) return [];
    const loc = reference.places[field];
    const input = reference[field];
    if (message === undefined || input === undefined) return [missing(loc, reference.given)];
    return [{ type: "value_error", loc, msg: `Value error, ${message}`, input, ctx: { error: message } }];
  });
}

function missing(loc: (string | number)[], input: unknown): ValidationError {
  return { type: "missing", loc, msg: "Field required", input };
}

type AnswerItem = [item: NewItem, result: EvaluationResult | null];

function toAnswerItems(evaluations: readonly Evaluation[]): AnswerItem[] {
  return evaluations.map((evaluation) => [
    toItem(evaluation),
    evaluation.outcome.status === "success" ? toEvaluationResult(evaluation) : null,
  ]);
}

function toShortAnswer(items: readonly AnswerItem[]): Response {
  const answer = `{"results":[${items.map(([item, result]) => itemJson(item, result)).join(",")}]}`;
  return new Response(answer, { headers: { "content-type": "application/json;charset=utf-8" } });
}

function toItem({ outcome, evaluatorId, profile }: Evaluation): NewItem {
  const profileName = profile?.name ?? "";
  return {
    evaluator_id: evaluatorId,
    profile_name: profileName,
    criteria: profileName,
    status: outcome.status,
    error_message: outcome.errorMessage ?? null,
  };
}
