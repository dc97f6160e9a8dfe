import { ChatCompletionRequest, WorldModelRequest } from "@presage/contract";
import { ServiceError, UpstreamError } from "../../../errors.ts";
import { rateHolder } from "../../../identity/caller.ts";
import { reserveBytesAnyway } from "../../../limits/byte-budget.ts";
import type { ChatSpan } from "../../../observability/tracing.ts";
import { completeChat } from "../../../prediction/complete-chat.ts";
import { type Complete, predict } from "../../../prediction/predict.ts";
import { readTokenCounts } from "../../../upstream/read-completion.ts";
import type { UpstreamCompletion } from "../../../upstream/upstream.ts";
import { countUsage, type Exchange } from "../../pipeline/exchange.ts";
import { reserveResponse, reserveSentBody } from "../../pipeline/reserve-memory.ts";
import { type CallWithCaller, type Route, withCaller } from "../../pipeline/route.ts";
import { missing } from "../../request/pydantic-issues.ts";
import { readExactBody } from "../../request/read-request.ts";
import { InvalidRequestError } from "../../request/validate.ts";
import type { Services } from "../../services.ts";

export function predictionRoutes({ upstream, admission, settings }: Services): Route[] {
  const { complete } = upstream;
  const { debugFields, maxBodyBytes } = settings;

  /** Admits a prediction within the limits; it counts as in flight until its response is ready. */
  function admit({ exchange, caller }: CallWithCaller): void {
    exchange.rate = admission.admit({ ...caller, keyOrUserId: rateHolder(caller) });
    exchange.atEnd = () => admission.leave(caller.accountId);
  }

  return [
    withCaller("POST", "/v1/predict", async (call) => {
      const { request, exchange } = call;
      countUsage(call, "predict");
      admit(call);
      const body = await readExactBody(call, WorldModelRequest, maxBodyBytes);
      refuseStreaming(body.params?.stream);
      const measured = measureCompletion(complete, exchange);
      const { prediction, messages } = predict(measured, body, request.signal);
      if (!debugFields) {
        reserveSentBody(exchange);
        return Response.json(await prediction);
      }
      const { heldBytes } = exchange;
      const response = { ...(await prediction), messages };
      reserveBytesAnyway(exchange, exchange.heldBytes + heldBytes);
      return Response.json(response);
    }),
    withCaller("POST", "/v1/chat/completions", async (call) => {
      const { request, exchange } = call;
      countUsage(call, "chat");
      admit(call);
      const body = await readExactBody(call, ChatCompletionRequest, maxBodyBytes);
      refuseStreaming(body.stream);
      refuseStreaming(body.params?.stream);
      refuseIncomplete(body);
      const completion = completeChat(measureCompletion(complete, exchange), body, request.signal);
      reserveSentBody(exchange);
      const { bytes } = await completion;
      return new Response(bytes, { headers: { "content-type": "application/json" } });
    }),
  ];
}

function refuseStreaming(stream: unknown): void {
  if (stream === true) throw new ServiceError("unsupported", "Streaming is not supported.");
}

/** Each of the two modes needs a field, which the schema cannot express. */
function refuseIncomplete(request: ChatCompletionRequest): void {
  const isStructured = isGiven(request.context) || isGiven(request.interaction);
  const isComplete = isStructured ? isGiven(request.interaction) : (request.messages ?? []).length > 0;
  if (isComplete) return;
  throw new InvalidRequestError([missing(["body", isStructured ? "interaction" : "messages"], request)]);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The same `complete`, which records on the exchange the upstream's time and token counts. */
function measureCompletion(complete: Complete, exchange: Exchange): Complete {
  return (request, clientSignal) => {
    const chat = exchange.span?.startChat(request);
    const startedAtMs = performance.now();
    return measure(complete(request, clientSignal), startedAtMs, chat);
  };

  /** Deliberately not passed the request: an async function would keep it in memory until it ends. */
  async function measure(
    pending: Promise<UpstreamCompletion>,
    startedAtMs: number,
    chat: ChatSpan | undefined,
  ): Promise<UpstreamCompletion> {
    try {
      const completion = await pending;
      reserveResponse(exchange, completion.bytes.length);
      const { usage, choices, model } = completion.body;
      const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = readTokenCounts(usage);
      exchange.promptTokens = promptTokens;
      exchange.completionTokens = completionTokens;
      chat?.end({ model, finishReason: choices[0].finish_reason, promptTokens, completionTokens });
      return completion;
    } catch (error) {
      chat?.fail(errorType(error));
      throw error;
    } finally {
      exchange.upstreamMs = performance.now() - startedAtMs;
    }
  }
}

/** A span's `error.type`. */
function errorType(error: unknown): string {
  if (error instanceof UpstreamError) return error.category;
  return error instanceof ServiceError ? error.code : "caller_gone";
}
