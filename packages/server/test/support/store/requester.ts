import type { Changer } from "../../../src/platform/audit.ts";

/** A requester that never disconnects. */
export function anyRequester(accountId = "account"): Changer {
  const actor = { kind: "command_line", userId: null, id: null, name: "test", requestId: null } as const;
  return { accountId, signal: new AbortController().signal, actor };
}
