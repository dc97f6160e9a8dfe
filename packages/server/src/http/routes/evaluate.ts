import {
  type EvaluateItem,
  EvaluateRequest,
  type EvaluateResponse,
  type ValidationError,
} from "@presage/contract";
import type { Evaluate, Evaluation } from "../../evaluation/evaluate.ts";
import { type EvaluationOrder, type Refusal, RefusedOrderError } from "../../evaluation/evaluation-order.ts";
import { type NamedReference, readReferences, readSample, withOldItemNames } from "../deprecations.ts";
import { toEvaluationResult } from "../evaluation-result.ts";
import { noteOldName } from "../exchange.ts";
import { keepOpen } from "../keep-open.ts";
import { readFiling } from "../read-filing.ts";
import { readJsonBody } from "../read-json-body.ts";
import { type Route, withKey } from "../route.ts";
import { ValidationFailure, validate } from "../validation.ts";

export interface EvaluateParts {
  evaluate: Evaluate;
  /** Milliseconds that the slowest evaluator may take. */
  timeoutMs: number;
}

export function evaluateRoutes({ evaluate, timeoutMs }: EvaluateParts, maxBodyBytes: number): Route[] {
  return [
    withKey("POST", "/v1/evaluate", async ({ request, server, exchange, caller }) => {
      const body = validate(EvaluateRequest, await readJsonBody(request, maxBodyBytes), "body");
      const note = noteOldName(exchange);
      const references = readReferences(body, note);
      const sample = readSample(body, note);
      const faults = [
        ...faultsOfReferences(references, body),
        ...(sample.input === undefined && sample.output === undefined
          ? [missing(["body", "evaluated_model_output"], body)]
          : []),
      ];
      if (references === undefined || faults.length > 0) throw new ValidationFailure(faults);
      keepOpen({ server, request, exchange }, timeoutMs);
      const idempotencyKey = readIdempotencyKey(request.headers);
      const order: EvaluationOrder = {
        accountId: caller.accountId,
        sample,
        evaluators: references.map(({ evaluator = "", profileName, explainStrategy }) => ({
          evaluator,
          ...(profileName === undefined ? {} : { profileName }),
          explainStrategy: explainStrategy ?? "always",
        })),
        filing: readFiling(body),
        capture: body.capture ?? "all",
        hasConfidenceInterval: body.confidence_interval_strategy === "full-history",
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      };
      const evaluations = await evaluate(order, request.signal).catch((error: unknown) => {
        throw error instanceof RefusedOrderError ? toFailure(error.refusals, references, body) : error;
      });
      return Response.json({ results: evaluations.map(toItem) } satisfies EvaluateResponse);
    }),
  ];
}

/** What the schema cannot say: there are evaluators, by one name or another. */
function faultsOfReferences(references: NamedReference[] | undefined, body: unknown): ValidationError[] {
  if (references === undefined) return [missing(["body", "evaluators"], body)];
  return references
    .filter(({ evaluator }) => evaluator === undefined)
    .map(({ places }) => missing(places.evaluator, body));
}

/** The caller's word by which a second try of the same request is known. */
function readIdempotencyKey(headers: Headers): string | undefined {
  const key = headers.get("idempotency-key");
  if (key === null || /^[!-~]{1,200}$/.test(key)) return key ?? undefined;
  const msg = "Value error, Input should be 1 to 200 visible ASCII characters";
  throw new ValidationFailure([{ type: "value_error", loc: ["header", "idempotency-key"], msg, input: key }]);
}

function toFailure(
  refusals: readonly Refusal[],
  references: readonly NamedReference[],
  body: unknown,
): ValidationFailure {
  return new ValidationFailure(
    refusals.flatMap(({ index, field, message }) => {
      const reference = references[index];
      if (reference === undefined) return [];
      const loc = reference.places[field];
      if (message === undefined) return [missing(loc, body)];
      return [
        {
          type: "value_error",
          loc,
          msg: `Value error, ${message}`,
          input: reference[field],
          ctx: { error: message },
        },
      ];
    }),
  );
}

function missing(loc: (string | number)[], input: unknown): ValidationError {
  return { type: "missing", loc, msg: "Field required", input };
}

function toItem(evaluation: Evaluation): EvaluateItem {
  const { finding, evaluatorId, profile } = evaluation;
  const profileName = profile?.name ?? "";
  return withOldItemNames({
    evaluator_id: evaluatorId,
    profile_name: profileName,
    criteria: profileName,
    status: finding.status,
    error_message: finding.errorMessage ?? null,
    evaluation_result: finding.status === "success" ? toEvaluationResult(evaluation) : null,
  });
}
