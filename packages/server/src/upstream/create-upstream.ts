import { ClientDisconnectedError, UpstreamError } from "../platform/errors.ts";
import { type Deadline, type DeadlineLimits, startDeadline } from "../platform/limits/deadline.ts";
import {
  createByteBudget,
  type Holder,
  reserveBytes,
  reserveResponseBytes,
} from "../platform/limits/memory.ts";
import { type AskedCompletion, type CachedCompletions, cacheCompletions } from "./cache.ts";
import { checkCompletion, checkModelList } from "./completion.ts";
import { createServedModel } from "./deployments.ts";
import { createReplicas, type ReplicaCall, routingKeyOf } from "./replicas.ts";
import { sendWithRetries } from "./retry.ts";
import { type CompleteResponse, createSendOnce } from "./send.ts";
import type {
  CompletionOptions,
  CompletionRequest,
  ModelList,
  Sharing,
  Upstream,
  UpstreamCompletion,
  UpstreamOptions,
} from "./upstream.ts";

/** A response is in memory as bytes, as text and as the parsed value. */
const bytesPerResponseByte = 4;
/** For a text longer than this, a Blob is worth the copy that it saves. */
const longCharacters = 128 * 1024;

type Body = string | Blob;

/** A body and the model that it names. */
interface WrittenRequest {
  body: Body;
  model: string;
}

/** What is kept of a request beside its body while it waits. */
interface Sending extends CompletionOptions {
  namesNoModel: boolean;
  key: number;
  /** Whether it was sent for another model than the one it was written for. */
  isForOtherModel: boolean;
}

/** A client of one chat-completions deployment. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { timeoutMs, retries } = options;
  const limits: DeadlineLimits = { timeoutMs, timeoutError, abortError: () => new ClientDisconnectedError() };
  const replicas = createReplicas(options, (url) => createSendOnce({ ...options, url }));
  // Many calls wait for this one response, so none of them can abort it.
  const servedModel = createServedModel(
    options.model,
    () => listModels(new AbortController().signal),
    options.nowMs,
  );

  const { policy = "off", completions } = options.cache ?? {};
  const cached =
    policy === "off" || completions === undefined
      ? undefined
      : cacheCompletions(options.name, policy, completions);

  const memory = options.memory ?? createByteBudget(Number.MAX_SAFE_INTEGER);
  const newHolder = (): Holder => ({ memory, reservedBytes: 0 });

  async function listModels(clientSignal: AbortSignal): Promise<ModelList> {
    const { signal, end } = startDeadline(limits, clientSignal);
    const holder = newHolder();
    const onResponseLength = (bytes: number) => reserveResponseBytes(holder, bytes * bytesPerResponseByte, 0);
    try {
      const call: ReplicaCall = { method: "GET", path: "/models", signal, onResponseLength, key: 0 };
      return checkModelList(await sendWithRetries(replicas, call, { retries }));
    } finally {
      end();
      reserveBytes(holder, 0);
    }
  }

  // Thousands of these wait at once, each holding only its body, for another try. An async function would hold its parameters,
  // the request among them, until it ends.
  function complete(
    request: CompletionRequest,
    clientSignal: AbortSignal,
    given: CompletionOptions = {},
  ): Promise<UpstreamCompletion> {
    const { mayRetry, session, trace, sharing } = given;
    if (sharing !== undefined && cached?.takes(request) === true)
      return completeOnce(cached, request, clientSignal, { ...given, sharing });
    const key = replicas.needKeys ? routingKeyOf(request, session) : 0;
    const deadline = startDeadline(limits, clientSignal);
    const model = request.model ?? servedModel.known();
    const written =
      model === undefined
        ? servedModel.find(deadline.signal).then((found) => write(request, found))
        : write(request, model);
    const how: Sending = {
      namesNoModel: request.model === undefined,
      mayRetry,
      session,
      trace,
      key,
      isForOtherModel: false,
    };
    return sendForCompletion(written, how, deadline);
  }

  /** The same for a request whose completion may be cached, or is in flight for another caller. */
  function completeOnce(
    cached: CachedCompletions,
    request: CompletionRequest,
    clientSignal: AbortSignal,
    { sharing, mayRetry, session, trace }: CompletionOptions & { sharing: Sharing },
  ): Promise<UpstreamCompletion> {
    const namesNoModel = request.model === undefined;

    function completeFor(model: string, deadline?: Deadline): Promise<UpstreamCompletion> {
      const text = writeText(request, model);
      const cacheKey = cached.keyOf(sharing, model, text);
      const hit = cached.find(cacheKey, sharing);
      if (hit !== undefined) {
        deadline?.end();
        cached.recognise({ key: cacheKey, servedModel: namesNoModel ? model : undefined }, sharing);
        return Promise.resolve(hit);
      }
      const key = replicas.needKeys ? routingKeyOf(request, session) : 0;
      const ask = (signal: AbortSignal) => {
        const how: Sending = { namesNoModel, mayRetry, session, trace, key, isForOtherModel: false };
        // It ends when no one waits for it any more.
        return toAsked(sendForCompletion({ body: toBody(text), model }, how, { signal, end() {} }), how);
      };
      return cached.join(cacheKey, sharing, deadline ?? startDeadline(limits, clientSignal), ask);
    }

    const model = request.model ?? servedModel.known();
    if (model !== undefined) return completeFor(model);
    const deadline = startDeadline(limits, clientSignal);
    return servedModel.find(deadline.signal).then(
      (found) => completeFor(found, deadline),
      (error: unknown) => {
        deadline.end();
        throw error;
      },
    );
  }

  function toCompletion(response: CompleteResponse, model: string): UpstreamCompletion {
    try {
      return { ...checkCompletion(response), deployment: options.name, model, replica: response.url };
    } catch (error) {
      replicas.refuseAnswer(response.url, error);
      throw error;
    }
  }

  async function sendForCompletion(
    writing: WrittenRequest | Promise<WrittenRequest>,
    how: Sending,
    { signal, end }: Deadline,
  ): Promise<UpstreamCompletion> {
    const { namesNoModel, mayRetry, session, trace, key } = how;
    const holder = newHolder();
    const sendBody = (body: Body) => {
      const path = "/chat/completions";
      const bodyBytes = typeof body === "string" ? body.length : body.size;
      const onResponseLength = (bytes: number) =>
        reserveResponseBytes(holder, bytes * bytesPerResponseByte, bodyBytes);
      const call: ReplicaCall = { method: "POST", path, body, signal, onResponseLength, session, trace, key };
      return sendWithRetries(replicas, call, { retries, mayRetry });
    };
    try {
      const written = writing instanceof Promise ? await writing : writing;
      try {
        return toCompletion(await sendBody(written.body), written.model);
      } catch (error) {
        if (!namesNoModel || !(error instanceof UpstreamError) || error.status !== 404) throw error;
        // The deployment may have been restarted with another model.
        const other = await servedModel.findOther(written.model, signal);
        if (other === undefined || mayRetry?.() === false) throw error;
        how.isForOtherModel = true;
        return toCompletion(await sendBody(withModel(written, other)), other);
      }
    } finally {
      end();
      reserveBytes(holder, 0);
    }
  }

  const findCached = (sharing: Sharing) => cached?.findByBody(sharing, servedModel.known());
  return { complete, findCached, listModels, model: servedModel.latest, replicas };
}

/** Deliberately not passed the request, which it would keep in memory until the response. */
async function toAsked(
  sending: Promise<UpstreamCompletion>,
  how: Pick<Sending, "isForOtherModel">,
): Promise<AskedCompletion> {
  const completion = await sending;
  return { completion, mayKeep: !how.isForOtherModel };
}

function timeoutError(timeoutMs: number): UpstreamError {
  return new UpstreamError("timeout", `The upstream did not respond within ${timeoutMs} ms.`);
}

function write(request: CompletionRequest, model: string): WrittenRequest {
  return { body: toBody(writeText(request, model)), model };
}

/** The model comes last, where `withModel` replaces it. */
function writeText({ model: _, ...request }: CompletionRequest, model: string): string {
  return JSON.stringify({ ...request, model });
}

/** Bun copies a text to send it and keeps both while it waits; it sends the bytes of a Blob themselves, at every try. */
function toBody(text: string): Body {
  return text.length < longCharacters ? text : new Blob([text]);
}

/** The same body for another model, made without the request, which is not kept. */
function withModel({ body, model }: WrittenRequest, other: string): Body {
  const endOf = (name: string) => `${JSON.stringify(name)}}`;
  if (typeof body === "string") return body.slice(0, -endOf(model).length) + endOf(other);
  return new Blob([body.slice(0, body.size - Buffer.byteLength(endOf(model))), endOf(other)]);
}
