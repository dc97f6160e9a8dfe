import type { Deadline } from "../platform/limits/deadline.ts";
import type { CompletionCache, KeptCompletion, KnownBody } from "./completion-cache.ts";
import { readCompletion } from "./completion-reading.ts";
import { type CachePolicy, isRepeatable } from "./is-repeatable.ts";
import { checkCompletion, endOfThinking, findControlToken, readMessage } from "./read-completion.ts";
import { createSingleFlight } from "./single-flight.ts";
import type { CompletionChoice, CompletionRequest, Sharing, UpstreamCompletion } from "./upstream.ts";

/** A completion from the upstream, and whether it is the response to the very request that was written. */
export interface AskedCompletion {
  completion: UpstreamCompletion;
  mayKeep: boolean;
}

/** One deployment's completions; equal ones are requested once. */
export interface CachedCompletions {
  takes(request: CompletionRequest): boolean;
  keyOf(sharing: Sharing, model: string, text: string): string;
  find(key: string, sharing: Sharing): UpstreamCompletion | undefined;
  /** Recognises the body, once there was a hit for it, so that it need not be read and written again to know the key. */
  recognise(body: Omit<KnownBody, "deployment">, sharing: Sharing): void;
  /** `find` by the body, if it is recognised and means the same while this model is served. */
  findByBody(sharing: Sharing, servedModel: string | undefined): UpstreamCompletion | undefined;
  /** Waits for the same request if it is under way, looks where other processes keep theirs, or asks. */
  join(
    key: string,
    sharing: Sharing,
    deadline: Deadline,
    ask: (signal: AbortSignal) => Promise<AskedCompletion>,
  ): Promise<UpstreamCompletion>;
}

export function cacheCompletions(
  deployment: string,
  policy: CachePolicy,
  cache: CompletionCache,
): CachedCompletions {
  const flights = createSingleFlight<UpstreamCompletion>();

  function toHit(kept: KeptCompletion): UpstreamCompletion {
    const { bytes, reading } = kept;
    return { bytes, body: reading, deployment, cache: { result: "hit", ageS: cache.ageS(kept) } };
  }

  function find(key: string, { maxAgeS }: Sharing): UpstreamCompletion | undefined {
    const kept = maxAgeS > 0 ? cache.find(key, maxAgeS) : undefined;
    return kept && toHit(kept);
  }

  async function findShared(key: string, maxAgeS: number): Promise<UpstreamCompletion | undefined> {
    const found = await cache.findShared(key, maxAgeS);
    if (found === undefined) return undefined;
    try {
      const { body } = checkCompletion({ status: 200, bytes: found.bytes, text: () => "" });
      const kept = { ...found, reading: readCompletion(body) };
      cache.keepHere(key, kept);
      return toHit(kept);
    } catch {
      // Whatever is stored there, it is no completion.
      return undefined;
    }
  }

  // `ask` holds the request, so nothing keeps it while the response is waited for.
  function fly(
    key: string,
    { maxAgeS }: Sharing,
    ask: () => Promise<AskedCompletion>,
  ): Promise<UpstreamCompletion> {
    if (maxAgeS === 0) return keepFrom(key, ask());
    return findShared(key, maxAgeS).then((shared) => shared ?? keepFrom(key, ask()));
  }

  async function keepFrom(key: string, asked: Promise<AskedCompletion>): Promise<UpstreamCompletion> {
    const { completion, mayKeep } = await asked;
    if (mayKeep && isWhole(completion)) cache.keep(key, completion.bytes, readCompletion(completion.body));
    return completion;
  }

  async function wait(
    landing: ReturnType<typeof flights.join>,
    { end }: Deadline,
  ): Promise<UpstreamCompletion> {
    try {
      const { value, isFirst } = await landing;
      return value.cache === undefined ? { ...value, cache: { result: isFirst ? "miss" : "shared" } } : value;
    } finally {
      end();
    }
  }

  return {
    takes: (request) => isRepeatable(request, policy),
    keyOf: ({ accountId }, model, text) => cache.keyOf({ accountId, deployment, model, text }),
    find,
    recognise(body, { bodyDigest }) {
      if (bodyDigest !== undefined) cache.recognise(bodyDigest, { ...body, deployment });
    },
    findByBody(sharing, servedModel) {
      const { bodyDigest } = sharing;
      const body = bodyDigest === undefined ? undefined : cache.findBody(bodyDigest);
      // A fallback, or the deployment that a chat's model names, recognises its bodies for itself.
      if (body === undefined || body.deployment !== deployment) return undefined;
      const isSame = body.servedModel === undefined || body.servedModel === servedModel;
      return isSame ? find(body.key, sharing) : undefined;
    },
    join(key, sharing, deadline, ask) {
      // Callers with different bounds may not take each other's kept completion.
      const flight = `${key} ${sharing.maxAgeS}`;
      const begin = (signal: AbortSignal) => fly(key, sharing, () => ask(signal));
      return wait(flights.join(flight, deadline.signal, begin), deadline);
    },
  };
}

/** Whether the model finished with a text. What was cut off, calls a tool or cannot be an observation is not kept: another try may be better. */
function isWhole({ body }: UpstreamCompletion): boolean {
  const { content } = readMessage(body.choices[0]);
  const text = content.slice(endOfThinking(content));
  if (text.trim() === "" || findControlToken(content) !== undefined) return false;
  return body.choices.every((choice: CompletionChoice | null) => choice?.finish_reason === "stop");
}
