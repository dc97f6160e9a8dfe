import { ClientDisconnectedError, UpstreamError } from "../errors.ts";
import { createByteBudget, type Holder, reserveBytes } from "../limits/byte-budget.ts";
import { type Deadline, type DeadlineLimits, startDeadline } from "../limits/deadline.ts";
import { checkCompletion, checkModelList } from "./read-completion.ts";
import { createSendOnce } from "./send-once.ts";
import { sendWithRetries } from "./send-with-retries.ts";
import { createServedModel } from "./served-model.ts";
import type {
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

/** A client of one chat-completions deployment. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { timeoutMs, retries } = options;
  const limits: DeadlineLimits = { timeoutMs, timeoutError, abortError: () => new ClientDisconnectedError() };
  const send = createSendOnce(options);
  // Many calls wait for this one response, so none of them can abort it.
  const servedModel = createServedModel(options.model, () => listModels(new AbortController().signal));

  const memory = options.memory ?? createByteBudget(Number.MAX_SAFE_INTEGER);
  const newHolder = (): Holder => ({ memory, heldBytes: 0 });

  async function listModels(clientSignal: AbortSignal): Promise<ModelList> {
    const { signal, end } = startDeadline(limits, clientSignal);
    const holder = newHolder();
    const onResponseLength = (bytes: number) => reserveBytes(holder, bytes * bytesPerResponseByte);
    try {
      const call = { method: "GET", path: "/models", signal, onResponseLength } as const;
      return checkModelList(await sendWithRetries(send, call, retries));
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
    mayRetry?: () => boolean,
  ): Promise<UpstreamCompletion> {
    const deadline = startDeadline(limits, clientSignal);
    const model = request.model ?? servedModel.known();
    const body =
      model === undefined
        ? servedModel.find(deadline.signal).then((found) => toBody(request, found))
        : toBody(request, model);
    return sendForCompletion(body, { namesNoModel: request.model === undefined, mayRetry }, deadline);
  }

  async function sendForCompletion(
    written: Body | Promise<Body>,
    { namesNoModel, mayRetry }: { namesNoModel: boolean; mayRetry: (() => boolean) | undefined },
    { signal, end }: Deadline,
  ): Promise<UpstreamCompletion> {
    const holder = newHolder();
    const onResponseLength = (bytes: number) => reserveBytes(holder, bytes * bytesPerResponseByte);
    try {
      const body = await written;
      const call = { method: "POST", path: "/chat/completions", body, signal, onResponseLength } as const;
      return checkCompletion(await sendWithRetries(send, call, retries, mayRetry));
    } catch (error) {
      // The deployment may have been restarted with another model.
      if (namesNoModel && error instanceof UpstreamError && error.status === 404) servedModel.forget();
      throw error;
    } finally {
      end();
      reserveBytes(holder, 0);
    }
  }

  return { complete, listModels };
}

function timeoutError(timeoutMs: number): UpstreamError {
  return new UpstreamError("timeout", `The upstream did not respond within ${timeoutMs} ms.`);
}

/** Bun copies a text to send it and keeps both while it waits; it sends the bytes of a Blob themselves, at every try. */
function toBody(request: CompletionRequest, model: string): Body {
  const text = JSON.stringify({ ...request, model });
  return text.length < longCharacters ? text : new Blob([text]);
}
