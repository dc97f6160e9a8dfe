import { ChatCompletionRequest, WorldModelRequest } from "@presage/contract";
import { Hono } from "hono";
import { ServiceError } from "../../errors.ts";
import type { Admission } from "../../identity/admission.ts";
import { completeChat } from "../../prediction/complete-chat.ts";
import { type Complete, predict } from "../../prediction/predict.ts";
import { admit } from "../admit.ts";
import type { HttpContext, HttpEnv } from "../exchange.ts";
import { measureCompletion } from "../measure-completion.ts";
import { readJsonBody } from "../read-json-body.ts";
import { ValidationFailure, validate } from "../validation.ts";

export interface PredictionParts {
  complete: Complete;
  admission: Admission;
  /** Whether `/v1/predict` answers with the prompt. */
  debugFields: boolean;
  maxBodyBytes: number;
  /** Milliseconds that a prediction may take. */
  timeoutMs: number;
}

export function predictionRoutes({
  complete,
  admission,
  debugFields,
  maxBodyBytes,
  timeoutMs,
}: PredictionParts) {
  return new Hono<HttpEnv>()
    .post("/v1/predict", admit(admission), async (c) => {
      const request = validate(WorldModelRequest, await readJsonBody(c.req.raw, maxBodyBytes), "body");
      keepOpen(c, timeoutMs);
      const { prediction, messages } = await predict(
        measureCompletion(complete, c.get("exchange")),
        request,
        c.req.raw.signal,
      );
      return Response.json(debugFields ? { ...prediction, messages } : prediction);
    })
    .post("/v1/chat/completions", admit(admission), async (c) => {
      const request = validate(ChatCompletionRequest, await readJsonBody(c.req.raw, maxBodyBytes), "body");
      refuseUnanswerable(request);
      keepOpen(c, timeoutMs);
      const { bytes } = await completeChat(
        measureCompletion(complete, c.get("exchange")),
        request,
        c.req.raw.signal,
      );
      return new Response(bytes, { headers: { "content-type": "application/json" } });
    });
}

/** What the schema cannot say: which fields each of the two modes needs. */
function refuseUnanswerable(request: ChatCompletionRequest): void {
  if (request.stream === true) throw new ServiceError("unsupported", "Streaming is not supported.");
  const isStructured = isGiven(request.context) || isGiven(request.interaction);
  const needed = isStructured ? "interaction" : "messages";
  const isThere = isStructured ? isGiven(request.interaction) : (request.messages ?? []).length > 0;
  if (isThere) return;
  const fault = { type: "missing", loc: ["body", needed], msg: "Field required", input: request };
  throw new ValidationFailure([fault]);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Bun closes a connection on which nothing moves; one that waits for the upstream may wait until the deadline. */
function keepOpen(c: HttpContext, timeoutMs: number): void {
  const seconds = Math.ceil(timeoutMs / 1000) + 5;
  const longestBunKnowsS = 255;
  c.env.server.timeout(c.req.raw, seconds > longestBunKnowsS ? 0 : seconds);
}
