import { ClientDisconnectedError, UpstreamError } from "../errors.ts";
import { createByteBudget, type Holder, reserveBytes } from "../limits/byte-budget.ts";
import { type Deadline, type DeadlineLimits, startDeadline } from "../limits/deadline.ts";
import { checkCompletion, checkModelList } from "./read-completion.ts";
import { createReplicas, type ReplicaCall } from "./replicas/replicas.ts";
import { routingKeyOf } from "./replicas/routing-key.ts";
import { createSendOnce } from "./send-once.ts";
import { sendWithRetries } from "./send-with-retries.ts";
import { createServedModel } from "./served-model.ts";
import type {
  CompletionOptions,
  CompletionRequest,
  ModelList,
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

  const memory = options.memory ?? createByteBudget(Number.MAX_SAFE_INTEGER);
  const newHolder = (): Holder => ({ memory, reservedBytes: 0 });

  async function listModels(clientSignal: AbortSignal): Promise<ModelList> {
    const { signal, end } = startDeadline(limits, clientSignal);
    const holder = newHolder();
    const onResponseLength = (bytes: number) => reserveBytes(holder, bytes * bytesPerResponseByte);
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
    { mayRetry, session, trace }: CompletionOptions = {},
  ): Promise<UpstreamCompletion> {
    const key = replicas.needKeys ? routingKeyOf(request, session) : 0;
    const deadline = startDeadline(limits, clientSignal);
    const model = request.model ?? servedModel.known();
    const written =
      model === undefined
        ? servedModel.find(deadline.signal).then((found) => write(request, found))
        : write(request, model);
    const how: Sending = { namesNoModel: request.model === undefined, mayRetry, session, trace, key };
    return sendForCompletion(written, how, deadline);
  }

  async function sendForCompletion(
    writing: WrittenRequest | Promise<WrittenRequest>,
    { namesNoModel, mayRetry, session, trace, key }: Sending,
    { signal, end }: Deadline,
  ): Promise<UpstreamCompletion> {
    const holder = newHolder();
    const onResponseLength = (bytes: number) => reserveBytes(holder, bytes * bytesPerResponseByte);
    const sendBody = async (body: Body) => {
      const path = "/chat/completions";
      const call: ReplicaCall = { method: "POST", path, body, signal, onResponseLength, session, trace, key };
      const response = await sendWithRetries(replicas, call, { retries, mayRetry });
      return { ...checkCompletion(response), deployment: options.name };
    };
    try {
      const written = await writing;
      try {
        return await sendBody(written.body);
      } catch (error) {
        if (!namesNoModel || !(error instanceof UpstreamError) || error.status !== 404) throw error;
        // The deployment may have been restarted with another model.
        const other = await servedModel.findOther(written.model, signal);
        if (other === undefined || mayRetry?.() === false) throw error;
        return await sendBody(withModel(written, other));
      }
    } finally {
      end();
      reserveBytes(holder, 0);
    }
  }

  return { complete, listModels, model: servedModel.latest, replicas };
}

function timeoutError(timeoutMs: number): UpstreamError {
  return new UpstreamError("timeout", `The upstream did not respond within ${timeoutMs} ms.`);
}

/**
 * The model comes last, where `withModel` replaces it. Bun copies a text to send it and keeps both while it waits; it sends the
 * bytes of a Blob themselves, at every try.
 */
function write({ model: _, ...request }: CompletionRequest, model: string): WrittenRequest {
  const text = JSON.stringify({ ...request, model });
  return { body: text.length < longCharacters ? text : new Blob([text]), model };
}

/** The same body for another model, made without the request, which is not kept. */
function withModel({ body, model }: WrittenRequest, other: string): Body {
  const endOf = (name: string) => `${JSON.stringify(name)}}`;
  if (typeof body === "string") return body.slice(0, -endOf(model).length) + endOf(other);
  return new Blob([body.slice(0, body.size - Buffer.byteLength(endOf(model))), endOf(other)]);
}
