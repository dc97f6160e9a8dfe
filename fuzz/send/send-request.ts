import type { Plan } from "../generate/plan.ts";
import { resolveReferences } from "../generate/references.ts";
import type { Target } from "../target/start-target.ts";
import type { Connection, Outcome } from "./connection.ts";
import { type WrittenRequest, writeRequest } from "./write-request.ts";

export interface Exchange {
  /** The caller's account. */
  account: string;
  written: WrittenRequest;
  outcome: Outcome;
  tookMs: number;
}

/** Serialises a request with the ids known so far, sends it and waits for its response. */
export async function sendRequest(
  plan: Plan,
  requestId: string,
  target: Target,
  connection: Connection,
): Promise<Exchange> {
  const { account, credentials, ownKey } = credentialsOf(plan, target);
  const written = writeRequest(plan, requestId, {
    credentials,
    ownKey,
    resolve: (text) => resolveReferences(text, target.known.find),
  });
  const startedAtMs = performance.now();
  const outcome = await connection.send(written.bytes, plan.method);
  return { account, written, outcome, tookMs: performance.now() - startedAtMs };
}

interface Credentials {
  account: string;
  credentials: [string, string][];
  ownKey: string;
}

function credentialsOf(plan: Plan, target: Target): Credentials {
  const { caller, callerNumber, isBearer, operation } = plan;
  if (caller === "nobody") return { account: "nobody", credentials: [], ownKey: "" };
  if (caller === "session") {
    const [lasting, ...expendable] = target.sessions;
    // Signing out ends the session, and one session is needed until the end.
    const session = operation.id === "signOut" ? expendable[callerNumber % expendable.length] : lasting;
    return { account: "owner", credentials: Object.entries(session?.headers ?? {}), ownKey: "" };
  }
  const made = caller === "made" ? target.known.madeKey(callerNumber) : undefined;
  const ownKey = caller === "stranger" ? target.strangerKey : (made?.key ?? target.ownerKey);
  return {
    account: caller === "stranger" ? "stranger" : (made?.owner ?? "owner"),
    credentials: [isBearer ? ["authorization", `Bearer ${ownKey}`] : ["x-api-key", ownKey]],
    ownKey,
  };
}
