import type { Asker } from "../../src/storage/reader.ts";

/** Whoever reads, and never hangs up. */
export function patientAsker(accountId = "account"): Asker {
  return { accountId, signal: new AbortController().signal };
}
