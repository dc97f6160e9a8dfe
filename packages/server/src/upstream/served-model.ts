import { UpstreamError } from "../platform/errors.ts";
import { orAborted } from "../platform/limits/deadline.ts";
import type { ModelList } from "./upstream.ts";

const trustForMs = 60_000;

export interface ServedModel {
  /**
   * The name to send if the request names no model; undefined if it is not known yet. If it was read over a minute ago, it is
   * read again for later requests: this one does not wait.
   */
  known(): string | undefined;
  /** The same, but nothing is read again. */
  latest(): string | undefined;
  /** Reads it from the upstream. */
  find(signal: AbortSignal): Promise<string>;
  /** The name to send after a 404 to `refused`; undefined if there is no other. */
  findOther(refused: string, signal: AbortSignal): Promise<string | undefined>;
}

/**
 * The configured name, or the first id of the upstream's list, which is read once for all calls that wait for it. A name is kept
 * while it is listed, because some servers list the newest model first.
 */
export function createServedModel(
  configured: string | undefined,
  listModels: () => Promise<ModelList>,
  nowMs = () => performance.now(),
): ServedModel {
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
    known() {
      const isOld = configured === undefined && known !== undefined && nowMs() - readAtMs > trustForMs;
      // If that fails, the name is still the best guess.
      if (isOld) read().catch(() => {});
      return known;
    },
    latest: () => known,
    find: (signal) => orAborted(read(), signal),
    async findOther(refused, signal) {
      if (configured !== undefined) return undefined;
      if (known === refused && nowMs() - confirmedAtMs > trustForMs) {
        await orAborted(read(), signal).catch(() => signal.throwIfAborted());
        // So that an upstream that answers 404 to everything is not sent a look-up for each request.
        if (known === refused) confirmedAtMs = nowMs();
      }
      return known === refused ? undefined : known;
    },
  };
}
