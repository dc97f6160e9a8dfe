import { ClientDisconnectedError, UpstreamError } from "../platform/errors.ts";
import {
  type Cancellation,
  createDeadlines,
  type Deadline,
  neverAborted,
  orAborted,
} from "../platform/limits/deadline.ts";
import {
  type ByteBudget,
  createByteBudget,
  type Holder,
  reserveBytes,
  reserveResponseBytes,
} from "../platform/limits/memory.ts";
import type { FindRefusal } from "../platform/prices.ts";
import {
  type AskedCompletion,
  type CachedCompletions,
  type CompletionCache,
  cacheCompletions,
} from "./cache.ts";
import { checkCompletion, checkModelList } from "./completion.ts";
import { timeoutError } from "./failures.ts";
import {
  createReplicas,
  type ReplicaCall,
  type Replicas,
  type ReplicasOptions,
  routingKeyOf,
} from "./replicas.ts";
import { sendWithRetries } from "./retry.ts";
import { type CompleteResponse, createSendOnce, type SendOptions } from "./send.ts";
import type {
  CachePolicy,
  Complete,
  CompletionBody,
  CompletionOptions,
  CompletionRequest,
  ModelList,
  Sharing,
  UpstreamCompletion,
} from "./upstream.ts";

/** Where the deployment is and how to call it. */
export interface UpstreamOptions extends ReplicasOptions, Omit<SendOptions, "url"> {
  /** The deployment's name. */
  name: string;
  /** Read from the upstream if absent. */
  model: string | undefined;
  /** Deadline of one call in milliseconds, including its retries. */
  timeoutMs: number;
  /** How often a call is retried after a refused or reset connection, a 503, or a failure that another replica may not have. */
  retries: number;
  /** The memory that responses reserve while they are read. If absent, they reserve nothing. */
  memory?: ByteBudget;
  /** Which completions are cached, and where; none if absent. */
  cache?: { policy: CachePolicy; completions: CompletionCache };
  /** Called before the upstream is asked. If absent, nobody has a budget. */
  findRefusal?: FindRefusal | undefined;
}

export interface Upstream {
  complete: Complete;
  /** The cached completion of a request whose body has been seen before; undefined if it has to be read. */
  findCached(sharing: Sharing): UpstreamCompletion | undefined;
  listModels(clientSignal: AbortSignal): Promise<ModelList>;
  /** The served model as far as it is known: the configured one, or the one that the upstream listed. */
  model(): string | undefined;
  readonly replicas: Replicas;
}

/** A response is in memory as bytes, as text and as a parsed value. */
const bytesPerResponseByte = 4;
/** For a text longer than this, a Blob is worth the copy that it saves. */
const longCharacters = 128 * 1024;

type Body = string | Blob;

/** A body and the model that it names. */
interface WrittenRequest {
  body: Body;
  model: string;
}

/** What is kept of a request besides its body while it waits. */
interface Sending extends CompletionOptions {
  namesNoModel: boolean;
  key: number;
  /** Whether it was sent for a model other than the one it was written for. */
  isForOtherModel: boolean;
}

/** A client of one chat-completions deployment. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { timeoutMs, retries } = options;
  const abortError = () => new ClientDisconnectedError();
  const startDeadline = createDeadlines({ timeoutMs, timeoutError, abortError });
  const replicas = createReplicas(options, (url) => createSendOnce({ ...options, url }));
  // Many calls wait for this one response, so none of them can abort it.
  const servedModel = createServedModel(options.model, () => listModels(neverAborted), options.nowMs);

  const { policy = "off", completions } = options.cache ?? {};
  const cached =
    policy === "off" || completions === undefined
      ? undefined
      : cacheCompletions(options.name, policy, completions);

  const memory = options.memory ?? createByteBudget(Number.MAX_SAFE_INTEGER);
  const newHolder = (): Holder => ({ memory, reservedBytes: 0 });

  async function listModels(clientSignal: AbortSignal): Promise<ModelList> {
    const deadline = startDeadline(clientSignal);
    const endsAtMs = performance.now() + timeoutMs;
    const { signal } = deadline;
    const holder = newHolder();
    const onResponseLength = (bytes: number) => reserveResponseBytes(holder, bytes * bytesPerResponseByte, 0);
    try {
      const what = { method: "GET", path: "/models", read: checkModelList } as const;
      const call: ReplicaCall<ModelList> = { ...what, signal, onResponseLength, key: 0 };
      return (await sendWithRetries(replicas, call, { retries, endsAtMs })).read;
    } finally {
      deadline.end();
      reserveBytes(holder, 0);
    }
  }

  // Thousands of these wait at the same time, each keeping only its body for another try. An async function would keep its
  // parameters, including the request, until it ends.
  function complete(request: CompletionRequest, clientSignal: AbortSignal, given: CompletionOptions = {}) {
    const { mayRetry, session, trace, sharing, spender } = given;
    if (sharing !== undefined && cached?.takes(request) === true)
      return completeOnce(cached, request, clientSignal, { ...given, sharing });
    const key = replicas.needKeys ? routingKeyOf(request, session, given.prefix) : 0;
    const deadline = startDeadline(clientSignal);
    const model = request.model ?? servedModel.known();
    const written = model === undefined ? writeOnceKnown(request, deadline.signal) : write(request, model);
    const how: Sending = {
      namesNoModel: request.model === undefined,
      mayRetry,
      session,
      trace,
      spender,
      key,
      isForOtherModel: false,
    };
    return sendForCompletion(written, how, deadline);
  }

  async function writeOnceKnown(request: CompletionRequest, signal: Cancellation): Promise<WrittenRequest> {
    return write(request, await servedModel.find(signal));
  }

  /** The same for a request whose completion may be cached, or is in flight for another caller. */
  function completeOnce(
    cached: CachedCompletions,
    request: CompletionRequest,
    clientSignal: AbortSignal,
    { sharing, mayRetry, session, prefix, trace, spender }: CompletionOptions & { sharing: Sharing },
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
      // Checked for each caller, even if another caller's call is under way.
      const refusal = spender && options.findRefusal?.(spender, model);
      if (refusal !== undefined) {
        deadline?.end();
        return Promise.reject(refusal);
      }
      const key = replicas.needKeys ? routingKeyOf(request, session, prefix) : 0;
      const ask = (signal: AbortSignal) => {
        const how: Sending = { namesNoModel, mayRetry, session, trace, key, isForOtherModel: false };
        // The call ends when no one waits for it any more.
        return toAsked(sendForCompletion({ body: toBody(text), model }, how, { signal, end() {} }), how);
      };
      return cached.join(cacheKey, sharing, deadline ?? startDeadline(clientSignal), ask);
    }

    const model = request.model ?? servedModel.known();
    if (model !== undefined) return completeFor(model);
    const deadline = startDeadline(clientSignal);
    return servedModel.find(deadline.signal).then(
      (found) => completeFor(found, deadline),
      (error: unknown) => {
        deadline.end();
        throw error;
      },
    );
  }

  function toCompletion(
    { bytes, read: body, url: replica }: CompleteResponse<CompletionBody>,
    model: string,
  ): UpstreamCompletion {
    return { bytes, body, deployment: options.name, model, replica };
  }

  async function sendForCompletion(
    writing: WrittenRequest | Promise<WrittenRequest>,
    how: Sending,
    deadline: Deadline,
  ): Promise<UpstreamCompletion> {
    const endsAtMs = performance.now() + timeoutMs;
    const { signal } = deadline;
    const { namesNoModel, mayRetry, session, trace, key, spender } = how;
    const holder = newHolder();
    const sendBody = (body: Body) => {
      const what = { method: "POST", path: "/chat/completions", read: checkCompletion } as const;
      const bodyBytes = typeof body === "string" ? body.length : body.size;
      const onResponseLength = (bytes: number) =>
        reserveResponseBytes(holder, bytes * bytesPerResponseByte, bodyBytes);
      const how = { signal, onResponseLength, session, trace, key };
      const call: ReplicaCall<CompletionBody> = { ...what, body, ...how };
      return sendWithRetries(replicas, call, { retries, endsAtMs, mayRetry });
    };
    try {
      const written = writing instanceof Promise ? await writing : writing;
      const refusal = spender && options.findRefusal?.(spender, written.model);
      if (refusal !== undefined) throw refusal;
      try {
        return toCompletion(await sendBody(written.body), written.model);
      } catch (error) {
        if (!namesNoModel || !(error instanceof UpstreamError) || error.status !== 404) throw error;
        // The deployment may have been restarted with another model.
        const other = await servedModel.findOther(written.model, signal);
        if (other === undefined || mayRetry?.() === false) throw error;
        const otherRefusal = spender && options.findRefusal?.(spender, other);
        if (otherRefusal !== undefined) throw otherRefusal;
        how.isForOtherModel = true;
        return toCompletion(await sendBody(withModel(written, other)), other);
      }
    } finally {
      deadline.end();
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

function write(request: CompletionRequest, model: string): WrittenRequest {
  return { body: toBody(writeText(request, model)), model };
}

/** The request as JSON with the model last, where `withModel` replaces it. */
function writeText({ model: _, ...request }: CompletionRequest, model: string): string {
  return JSON.stringify(Object.assign(request, { model }));
}

/** Bun copies a text to send it and keeps both while it waits; it sends the bytes of a Blob themselves, at every try. */
function toBody(text: string): Body {
  return text.length < longCharacters ? text : new Blob([text]);
}

/** The same body for another model, made from the text because the request is not kept. */
function withModel({ body, model }: WrittenRequest, other: string): Body {
  const endOf = (name: string) => `${JSON.stringify(name)}}`;
  if (typeof body === "string") return body.slice(0, -endOf(model).length) + endOf(other);
  return new Blob([body.slice(0, body.size - Buffer.byteLength(endOf(model))), endOf(other)]);
}

const trustForMs = 60_000;

/**
 * The configured name, or the first id of the upstream's list, which is read once for all calls that wait for it. A name is kept
 * while it is listed, because some servers list the newest model first.
 */
function createServedModel(
  configured: string | undefined,
  listModels: () => Promise<ModelList>,
  nowMs = () => performance.now(),
) {
  let known = configured;
  let readAtMs = Number.NEGATIVE_INFINITY;
  /** When a look-up after a 404 last found no other model. */
  let confirmedAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<string> | undefined;

  function read(): Promise<string> {
    reading ??= readNow();
    return reading;
  }

  async function readNow(): Promise<string> {
    readAtMs = nowMs();
    try {
      const { models } = await listModels();
      const [first] = models;
      if (first === undefined) throw new UpstreamError("upstream", "The upstream lists no model.");
      const kept = models.find(({ id }) => id === known) ?? first;
      known = kept.id;
      return kept.id;
    } finally {
      reading = undefined;
    }
  }

  return {
    /**
     * The name to send if the request names no model; undefined if it is not known yet. If it was read over a minute ago, it is
     * read again for later requests: this one does not wait.
     */
    known(): string | undefined {
      const isOld = configured === undefined && known !== undefined && nowMs() - readAtMs > trustForMs;
      // If the reading fails, this name is still the best guess.
      if (isOld) read().catch(() => {});
      return known;
    },
    /** The same, but without reading it again. */
    latest: (): string | undefined => known,
    /** Reads the name from the upstream. */
    find: (signal: Cancellation): Promise<string> => orAborted(read(), signal),
    /** The name to send after a 404 to `refused`; undefined if there is no other. */
    async findOther(refused: string, signal: Cancellation): Promise<string | undefined> {
      if (configured !== undefined) return undefined;
      if (known === refused && nowMs() - confirmedAtMs > trustForMs) {
        await orAborted(read(), signal).catch(() => signal.throwIfAborted());
        // Prevents a look-up for each request if an upstream answers 404 to everything.
        if (known === refused) confirmedAtMs = nowMs();
      }
      return known === refused ? undefined : known;
    },
  };
}
