import type { CallWithCaller } from "../http/call.ts";
import type { Caller } from "../http/caller.ts";
import { errorResponse, inWords } from "../http/errors.ts";
import type { Exchange } from "../http/exchange.ts";
import { bytesOfValues } from "../http/memory.ts";
import { ClientDisconnectedError, SpendingRefusedError } from "../platform/errors.ts";
import type { ByteBudget } from "../platform/limits/memory.ts";
import { writeInBatches } from "../platform/storage/batches.ts";
import { microsPerMs, nowMicros } from "../platform/storage/columns.ts";
import { splitByBytes } from "../platform/storage/lists.ts";
import { isStoreUnavailable } from "../platform/storage/store-error.ts";
import type { UpstreamCompletion } from "../upstream/upstream.ts";
import { toStoredWorld, type WorldCompletion } from "../worlds/complete-through-world.ts";
import { type ChatRequest, type CompleteForRequest, setFields } from "./predict.ts";
import { type NewPrediction, type PredictionOutcome, readAnswer, type StoredRequest } from "./stored-rows.ts";

/** Which outcomes of a request are stored. */
export type Captures = "off" | "failures" | "all";

/**
 * Which outcomes of a request are stored under a setting (as `CaptureSetting` of the contract). For a share, the first 32 bits of the
 * SHA-256 of the request's id decide, as a fraction of 2^32, so that anybody can tell afterwards which requests are stored.
 */
export function captureOf(setting: string, requestId: string): Captures {
  if (setting === "off" || setting === "failures" || setting === "all") return setting;
  const fraction = new Bun.CryptoHasher("sha256").update(requestId).digest().readUInt32BE() / 2 ** 32;
  return fraction < Number(setting) ? "all" : "off";
}

/** Predictions that wait for their response or for the store may take this part of the memory of requests. */
const partsOfMemory = 8;
/** The strings of a row besides its texts, and the objects around them. */
const bytesPerPrediction = 2_000;
const bytesPerCharacter = 2;
/** Once more than this is pending, it is written without waiting for the next interval. */
const soonBytes = 4_000_000;
/** The limits of one transaction: making its rows must not hold up predictions. */
const transaction = { maxIds: 200, maxBytes: 500_000 };

/** Memory that is held for a prediction that may be stored. */
interface CaptureHold {
  bytes: number;
}

/** Stores predictions of live traffic. */
export interface Capture {
  /** Which outcomes of a request are stored: its API key's setting decides, otherwise the server's. */
  decide(call: { caller: Pick<Caller, "proof">; exchange: Pick<Exchange, "requestId"> }): Captures;
  /** A `complete` whose outcome is stored if this request's are to be; otherwise `complete` itself. */
  watch(
    complete: CompleteForRequest,
    call: CallWithCaller,
    body: ChatRequest,
    askedDeployment: string,
  ): CompleteForRequest;
  /** Holds memory for a request of this size. If there is none, returns undefined, and the prediction is not stored. */
  hold(bytes: number): CaptureHold | undefined;
  /** Takes over a prediction, to be written later. */
  store(hold: CaptureHold, prediction: NewPrediction): void;
  /** Releases what is not stored after all. */
  release(hold: CaptureHold): void;
  /** The memory that is held. */
  heldBytes(): number;
  /** Writes what is pending and stops. */
  stop(): Promise<void>;
}

export interface CaptureOptions {
  /** The server's setting. */
  setting: string;
  memory: ByteBudget;
  intervalMs: number;
  /** Stores all of these predictions, or none. Predictions that are already stored stay as they are. */
  write(predictions: readonly NewPrediction[]): Promise<void>;
  /** A batch could not be written and is tried again later. `isFirst`: the previous batch was written. */
  onFailure(error: unknown, isFirst: boolean): void;
  /** Some predictions are lost: there was no memory for them, or the store refused them with this error. */
  onDropped(error: unknown, isFirst: boolean): void;
  count(outcome: "written" | "dropped", predictions: number): void;
}

interface Pending {
  prediction: NewPrediction;
  hold: CaptureHold;
  isSettled: boolean;
}

export function createCapture({ setting, memory, intervalMs, ...options }: CaptureOptions): Capture {
  const maxBytes = Math.floor(memory.maxBytes / partsOfMemory);
  let heldBytes = 0;
  let isDropping = false;

  function resize(hold: CaptureHold, bytes: number): void {
    memory.resizeAnyway(hold.bytes, bytes);
    heldBytes += bytes - hold.bytes;
    hold.bytes = bytes;
  }

  function drop(count: number, error?: unknown): void {
    options.count("dropped", count);
    options.onDropped(error, !isDropping);
    isDropping = true;
  }

  function settle(some: readonly Pending[]): void {
    for (const one of some) {
      one.isSettled = true;
      resize(one.hold, 0);
    }
  }

  async function writeSome(some: readonly Pending[]): Promise<void> {
    try {
      await options.write(some.map(({ prediction }) => prediction));
    } catch (error) {
      if (isStoreUnavailable(error)) throw error;
      // The batch would be refused again, and all that follow would wait for it.
      settle(some);
      return drop(some.length, error);
    }
    settle(some);
    options.count("written", some.length);
    isDropping = false;
  }

  const batches = writeInBatches<Pending>({
    intervalMs,
    async write(batch) {
      const bytesOf = new Map(Array.from(batch, ([id, { hold }]) => [id, hold.bytes]));
      for (const ids of splitByBytes([...batch.keys()], bytesOf, transaction)) {
        await writeSome(ids.map((id) => batch.get(id)).filter((one) => one !== undefined));
      }
    },
    putBack(batch, pending) {
      for (const [id, one] of batch) if (!one.isSettled) pending.set(id, one);
    },
    onFailure: options.onFailure,
  });
  let pendingBytes = 0;

  const capture: Capture = {
    decide: ({ caller: { proof }, exchange }) =>
      captureOf((proof.kind === "key" ? proof.capture : null) ?? setting, exchange.requestId),
    watch(complete, call, body, askedDeployment) {
      const captures = capture.decide(call);
      return captures === "off"
        ? complete
        : (request, clientSignal) => {
            const pending = complete(request, clientSignal);
            storeOutcome(capture, captures, { call, body, askedDeployment, pending });
            return pending;
          };
    },
    hold(bytes) {
      const all = bytes + bytesPerPrediction;
      if (heldBytes + all > maxBytes) {
        drop(1);
        return undefined;
      }
      const hold = { bytes: 0 };
      resize(hold, all);
      return hold;
    },
    store(hold, prediction) {
      resize(hold, hold.bytes + charactersOf(prediction) * bytesPerCharacter);
      if (heldBytes > maxBytes) {
        resize(hold, 0);
        return drop(1);
      }
      const pending = batches.pending();
      if (pending.size === 0) pendingBytes = 0;
      pending.set(prediction.id, { prediction, hold, isSettled: false });
      pendingBytes += hold.bytes;
      if (pendingBytes > soonBytes) {
        pendingBytes = 0;
        void batches.writeNow();
      }
    },
    release: (hold) => resize(hold, 0),
    heldBytes: () => heldBytes,
    async stop() {
      await batches.stop();
      const lost = batches.pending().size;
      if (lost > 0) drop(lost);
    },
  };
  return capture;
}

/** A prediction that the upstream was just asked for. */
interface StartedCompletion {
  call: CallWithCaller;
  body: ChatRequest;
  askedDeployment: string;
  pending: Promise<UpstreamCompletion>;
}

/** Attached to the call rather than wrapped around it, because thousands wait at the same time. */
function storeOutcome(
  capture: Capture,
  captures: Captures,
  { call: { caller, exchange }, body, askedDeployment, pending }: StartedCompletion,
): void {
  const startedAtMs = performance.now();
  const hold = capture.hold(bytesOfValues(exchange));
  if (hold === undefined) return;
  const { accountId, userId, proof } = caller;
  const store = (deployment: string, outcome: PredictionOutcome, world?: StoredRequest["world"]) =>
    capture.store(hold, {
      id: Bun.randomUUIDv7(),
      accountId,
      createdAt: nowMicros(),
      apiKeyId: proof.kind === "key" ? proof.keyId : undefined,
      requestId: exchange.requestId,
      context: body.context,
      asked: {
        ...(proof.kind !== "key" && { user_id: userId }),
        ...toStoredRequest(body),
        ...(world && { world }),
      },
      deployment,
      latencyMicros: Math.round((performance.now() - startedAtMs) * microsPerMs),
      outcome,
    });
  pending.then(
    (completion) => {
      if (captures === "failures") capture.release(hold);
      else
        store(
          completion.deployment,
          { status: "success", answer: readAnswer(completion) },
          worldOf(completion),
        );
    },
    (error: unknown) => {
      // The model's answer is unknown, or the model was not asked.
      const isUnanswered = error instanceof ClientDisconnectedError || error instanceof SpendingRefusedError;
      if (isUnanswered) capture.release(hold);
      else store(askedDeployment, toFailure(error, exchange.requestId));
    },
  );
}

/** The world that a prediction was made through, and what it leaned on. */
function worldOf(completion: UpstreamCompletion | WorldCompletion): StoredRequest["world"] {
  if (!("world" in completion)) return undefined;
  return toStoredWorld(completion);
}

/** A prediction's request has the fields of a structured chat. */
function toStoredRequest(body: ChatRequest): StoredRequest {
  const { model, messages, interaction } = body;
  return { ...(interaction ? { interaction } : { messages }), model, params: setFields(body) };
}

/** The failure in the words of the response, with what the upstream said. */
function toFailure(error: unknown, requestId: string): PredictionOutcome {
  const { body, category } = errorResponse(error, requestId);
  const said = "upstream_body" in body && body.upstream_body ? `\n\n${body.upstream_body}` : "";
  return { status: "failed", category, message: `${inWords(body.detail)}${said}` };
}

function charactersOf({ outcome }: NewPrediction): number {
  return outcome.status === "failed"
    ? outcome.message.length
    : outcome.answer.output.length + (outcome.answer.reasoning?.length ?? 0);
}
