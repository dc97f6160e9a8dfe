import { ChatCompletionRequest, WorldModelRequest } from "@presage/contract";
import { ServiceError } from "../../../errors.ts";
import type { Caller } from "../../../identity/caller.ts";
import { reserveBytesAnyway } from "../../../limits/byte-budget.ts";
import { completeChat } from "../../../prediction/complete-chat.ts";
import { type Complete, predict } from "../../../prediction/predict.ts";
import type { Deployment, Deployments } from "../../../upstream/deployments/create-deployments.ts";
import type { CompletionOptions, Sharing } from "../../../upstream/upstream.ts";
import { admit, countUsage, deploymentHeader } from "../../pipeline/exchange.ts";
import { measureCompletion } from "../../pipeline/measure-completion.ts";
import { reserveSentBody } from "../../pipeline/reserve-memory.ts";
import { type CallWithCaller, type Route, withCaller } from "../../pipeline/route.ts";
import { missing, valueError } from "../../request/pydantic-issues.ts";
import { readExactBody } from "../../request/read-request.ts";
import { InvalidRequestError } from "../../request/validate.ts";
import type { Services } from "../../services.ts";
import { capturing } from "./capture-prediction.ts";
import { readMaxAge } from "./read-max-age.ts";

export function predictionRoutes({ deployments, admission, settings, capture }: Services): Route[] {
  const { debugFields, maxBodyBytes } = settings;

  function completeBy(
    named: Deployment | undefined,
    call: CallWithCaller,
    body: ChatCompletionRequest,
  ): Complete {
    const { request, exchange, caller } = call;
    const { name, upstream } = named ?? deployments.getDefault();
    const session = readSessionHeader(request.headers);
    const sharing = deployments.areCached() ? readSharing(request.headers, caller) : undefined;
    const complete = measureCompletion(upstream.complete, exchange, { session, sharing });
    return capturing(capture, call, body, name, complete);
  }

  /** A model that is a deployment's name is replaced by the model of the deployment that is asked. */
  function withoutDeployment(body: ChatCompletionRequest): ChatCompletionRequest {
    const { model } = body;
    if (typeof model !== "string" || deployments.find(model) === undefined) return body;
    const { model: _, ...rest } = body;
    return rest;
  }

  return [
    withCaller("POST", "/v1/predict", "predict", async (call) => {
      const { request, exchange } = call;
      countUsage(call, "predict");
      await admit(admission, call);
      const body = await readExactBody(call, WorldModelRequest, maxBodyBytes);
      refuseStreaming(body.params?.stream);
      const named = findNamedDeployment(deployments, request.headers);
      const { prediction, messages } = predict(completeBy(named, call, body), body, request.signal);
      if (!debugFields) {
        reserveSentBody(exchange);
        return Response.json(await prediction);
      }
      const { reservedBytes } = exchange;
      const response = { ...(await prediction), messages };
      reserveBytesAnyway(exchange, exchange.reservedBytes + reservedBytes);
      return Response.json(response);
    }),
    withCaller("POST", "/v1/chat/completions", "predict", async (call) => {
      const { request, exchange } = call;
      countUsage(call, "chat");
      await admit(admission, call);
      const body = await readExactBody(call, ChatCompletionRequest, maxBodyBytes);
      refuseStreaming(body.stream);
      refuseStreaming(body.params?.stream);
      refuseIncomplete(body);
      const named = findNamedDeployment(deployments, request.headers, body.model);
      const completion = completeChat(completeBy(named, call, body), withoutDeployment(body), request.signal);
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

/** Which completions of equal requests the caller takes; undefined: none. */
function readSharing(headers: Headers, { accountId }: Caller): Sharing | undefined {
  const maxAgeS = readMaxAge(headers.get("cache-control"));
  return maxAgeS === undefined ? undefined : { accountId, maxAgeS };
}

/** The second is that of SGLang's gateway. */
const sessionHeaders = ["x-session-id", "x-smg-routing-key"];
const usable = /^[!-~]{1,256}$/;

/** The header that says which requests are of one trajectory; undefined if none is sent. */
function readSessionHeader(headers: Headers): CompletionOptions["session"] {
  for (const name of sessionHeaders) {
    const value = headers.get(name);
    if (value === null) continue;
    if (usable.test(value)) return { name, value };
    throw refused(name, "Input should be 1 to 256 visible ASCII characters", value);
  }
  return undefined;
}

/** The deployment that a request names: in its header, otherwise as its model. Undefined if it names none. */
function findNamedDeployment(
  deployments: Deployments,
  headers: Headers,
  model?: string | null,
): Deployment | undefined {
  const name = headers.get(deploymentHeader);
  if (name === null) return typeof model === "string" ? deployments.find(model) : undefined;
  const named = deployments.find(name);
  if (named !== undefined) return named;
  const names = deployments.all().map((one) => one.name);
  throw refused(deploymentHeader, `Input should be the name of a deployment: ${names.join(", ")}`, name);
}

function refused(header: string, error: string, value: string): InvalidRequestError {
  return new InvalidRequestError([valueError(["header", header], error, value)]);
}
