import { ChatCompletionRequest, WorldModelRequest } from "@presage/contract";
import { ServiceError } from "../../errors.ts";
import type { Admission } from "../../identity/admission.ts";
import { completeChat } from "../../prediction/complete-chat.ts";
import { type Complete, predict } from "../../prediction/predict.ts";
import { measureCompletion } from "../measure-completion.ts";
import { readJsonBody } from "../read-json-body.ts";
import { type Call, type CallWithKey, type Route, withKey } from "../route.ts";
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
}: PredictionParts): Route[] {
  return [
    withKey("POST", "/v1/predict", (call) =>
      admitted(call, async ({ request, server, exchange }) => {
        const body = validate(WorldModelRequest, await readJsonBody(request, maxBodyBytes), "body");
        keepOpen(server, request, timeoutMs);
        const { prediction, messages } = await predict(
          measureCompletion(complete, exchange),
          body,
          request.signal,
        );
        return Response.json(debugFields ? { ...prediction, messages } : prediction);
      }),
    ),
    withKey("POST", "/v1/chat/completions", (call) =>
      admitted(call, async ({ request, server, exchange }) => {
        const body = validate(ChatCompletionRequest, await readJsonBody(request, maxBodyBytes), "body");
        refuseUnanswerable(body);
        keepOpen(server, request, timeoutMs);
        const { bytes } = await completeChat(measureCompletion(complete, exchange), body, request.signal);
        return new Response(bytes, { headers: { "content-type": "application/json" } });
      }),
    ),
  ];

  /** Lets a prediction in within the limits, and counts it as under way until it is answered. */
  async function admitted(call: CallWithKey, work: (call: Call) => Promise<Response>): Promise<Response> {
    const rate = admission.admit(call.caller.keyId);
    if (rate !== undefined) call.exchange.rate = rate;
    try {
      return await work(call);
    } finally {
      admission.leave();
    }
  }
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
function keepOpen(server: Call["server"], request: Request, timeoutMs: number): void {
  const seconds = Math.ceil(timeoutMs / 1000) + 5;
  const longestBunKnowsS = 255;
  server.timeout(request, seconds > longestBunKnowsS ? 0 : seconds);
}
