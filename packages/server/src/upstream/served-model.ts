import { UpstreamError } from "../errors.ts";
import { orAborted } from "../limits/deadline.ts";
import type { ModelList } from "./upstream.ts";

export interface ServedModel {
  /** The name to send if the request names no model; undefined if it is not known yet. */
  known(): string | undefined;
  /** Reads it from the upstream. */
  find(signal: AbortSignal): Promise<string>;
  /** The upstream no longer knows the name: read it again next time. */
  forget(): void;
}

/** The configured name, or the first id of the upstream's list, which is read once for all calls that wait for it. */
export function createServedModel(
  configured: string | undefined,
  listModels: () => Promise<ModelList>,
): ServedModel {
  let known = configured;
  let reading: Promise<string> | undefined;

  async function read(): Promise<string> {
    try {
      const [first] = (await listModels()).ids;
      if (first === undefined) throw new UpstreamError("upstream", "The upstream lists no model.");
      known = first;
      return first;
    } finally {
      reading = undefined;
    }
  }

  return {
    known: () => known,
    find(signal) {
      reading ??= read();
      return orAborted(reading, signal);
    },
    forget() {
      known = configured;
    },
  };
}
