import type { Requester } from "../../../src/storage/reader.ts";

/** A requester that never disconnects. */
export function anyRequester(accountId = "account"): Requester {
  return { accountId, signal: new AbortController().signal };
}
