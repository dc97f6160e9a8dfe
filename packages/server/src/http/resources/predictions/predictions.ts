import { ChatCompletionRequest, WorldModelRequest } from "@presage/contract";
import { ServiceError } from "../../../errors.ts";
import { type Caller, rateHolder } from "../../../identity/caller.ts";
import { reserveBytesAnyway } from "../../../limits/byte-budget.ts";
import type { Admission } from "../../../prediction/admission.ts";
import { completeChat } from "../../../prediction/complete-chat.ts";
import { predict } from "../../../prediction/predict.ts";
import { countUsage } from "../../pipeline/count-usage.ts";
import type { Exchange } from "../../pipeline/exchange.ts";
import { holdSentBody } from "../../pipeline/hold-memory.ts";
import { type Route, withCaller } from "../../pipeline/route.ts";
import { readExactBody } from "../../request/read-request.ts";
import { ValidationFailure } from "../../request/validation.ts";
import type { Services } from "../../services.ts";
import { measureCompletion } from "./measure-completion.ts";

export function predictionRoutes({ upstream, admission, settings }: Services): Route[] {
  const { complete } = upstream;
  const { debugFields, maxBodyBytes } = settings;
  return [
    withCaller("POST", "/v1/predict", async (call) => {
      const { request, exchange, caller } = call;
      countUsage(call, "predict");
      admit(admission, exchange, caller);
      const body = await readExactBody(call, WorldModelRequest, maxBodyBytes);
      refuseStreaming(body.params?.stream);
      const measured = measureCompletion(complete, exchange);
      const { prediction, messages } = predict(measured, body, request.signal);
      if (!debugFields) {
        holdSentBody(exchange);
        return Response.json(await prediction);
      }
      const { heldBytes } = exchange;
      const answer = { ...(await prediction), messages };
      reserveBytesAnyway(exchange, exchange.heldBytes + heldBytes);
      return Response.json(answer);
    }),
    withCaller("POST", "/v1/chat/completions", async (call) => {
      const { request, exchange, caller } = call;
      countUsage(call, "chat");
      admit(admission, exchange, caller);
      const body = await readExactBody(call, ChatCompletionRequest, maxBodyBytes);
      refuseStreaming(body.stream);
      refuseStreaming(body.params?.stream);
      refuseUnanswerable(body);
      const completion = completeChat(measureCompletion(complete, exchange), body, request.signal);
      holdSentBody(exchange);
      const { bytes } = await completion;
      return new Response(bytes, { headers: { "content-type": "application/json" } });
    }),
  ];
}

/** Lets a prediction in within the limits, and counts it as under way until it is answered. */
function admit(admission: Admission, exchange: Exchange, caller: Caller): void {
  exchange.rate = admission.admit({ ...caller, keyOrUserId: rateHolder(caller) });
  exchange.atEnd = () => admission.leave(caller.accountId);
}

function refuseStreaming(stream: unknown): void {
  if (stream === true) throw new ServiceError("unsupported", "Streaming is not supported.");
}

/** What the schema cannot say: which fields each of the two modes needs. */
function refuseUnanswerable(request: ChatCompletionRequest): void {
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
