import { UpstreamError } from "../errors.ts";
import { orAborted } from "../limits/deadline.ts";
import type { ModelList } from "./upstream.ts";

export interface ServedModel {
  /** The name to send where the caller names no model, if it is known already. */
  known(): string | undefined;
  /** Asks the upstream for it. */
  find(signal: AbortSignal): Promise<string>;
  /** The upstream does not know the name any more: ask again next time. */
  forget(): void;
}

/** The configured name, or else the first id of the upstream's list: asked for once, shared by all who wait for it. */
export function createServedModel(
  configured: string | undefined,
  listModels: () => Promise<ModelList>,
): ServedModel {
  let known = configured;
  let asking: Promise<string> | undefined;

  async function ask(): Promise<string> {
    try {
      const [first] = (await listModels()).ids;
      if (first === undefined) throw new UpstreamError("upstream", "The upstream lists no model.");
      known = first;
      return first;
    } finally {
      asking = undefined;
    }
  }

  return {
    known: () => known,
    find(signal) {
      asking ??= ask();
      return orAborted(asking, signal);
    },
    forget() {
      known = configured;
    },
  };
}
