import { setTimeout as sleep } from "node:timers/promises";
import { RunPath } from "@presage/contract";
import type { Services } from "../app/services.ts";
import { checkAccess } from "../http/access.ts";
import { authenticate } from "../http/authenticate.ts";
import { eventStreamHeaders } from "../http/event-stream-headers.ts";
import { logBrokenResponse } from "../http/log-broken-response.ts";
import { readPath } from "../http/read-request.ts";
import { requesterOf } from "../http/requester-of.ts";
import { type CallWithCaller, type Route, withCaller } from "../http/route.ts";
import { streamTexts } from "../http/stream-texts.ts";
import { ServiceError } from "../platform/errors.ts";
import { findRun } from "./find-run.ts";
import { hasEnded, type Run } from "./run.ts";
import { toRun } from "./run-response.ts";

const lookEveryMs = 500;
/** How long the streams of a run share a look at it. */
const shareMs = 250;
/** So that a stream ends within five seconds of the revocation of its key or session. */
const verifyEveryMs = 3_000;
/** Less than proxies wait for. */
const commentEveryMs = 10_000;
const maxStreamsOfUser = 10;

/** The progress of a run as server-sent events. */
export function runEventRoute(services: Services, path: string): Route {
  const streamsOf = new Map<string, number>();

  function enter(userId: string): void {
    const count = streamsOf.get(userId) ?? 0;
    if (count >= maxStreamsOfUser)
      throw new ServiceError(
        "rate_limited",
        `A user may have at most ${maxStreamsOfUser} streams of events open. Close one, and try again.`,
        { retryAfterS: 1 },
      );
    streamsOf.set(userId, count + 1);
  }

  function leave(userId: string): void {
    const count = (streamsOf.get(userId) ?? 0) - 1;
    if (count > 0) streamsOf.set(userId, count);
    else streamsOf.delete(userId);
  }

  /** One read a run serves all that follow it: the reads of an account that may wait are limited. */
  const looks = new Map<string, Promise<Run>>();

  function look({ id, accountId }: Run): Promise<Run> {
    const shared = looks.get(id);
    if (shared !== undefined) return shared;
    // It goes on if the stream that began it ends.
    const looking = findRun(services.evaluation, { accountId, signal: new AbortController().signal }, id);
    looks.set(id, looking);
    const forget = () => void looks.delete(id);
    looking.then(() => setTimeout(forget, shareMs).unref(), forget);
    return looking;
  }

  async function* events(call: CallWithCaller, first: Run): AsyncGenerator<string, void> {
    const { request, caller } = call;
    let lastId = request.headers.get("last-event-id");
    let saidAtMs = performance.now();
    let verifiedAtMs = saidAtMs;
    try {
      for (let run = first; ; run = await look(first)) {
        const nowMs = performance.now();
        const id = eventId(run);
        if (id !== lastId) {
          yield `event: run\nid: ${id}\ndata: ${JSON.stringify(toRun(run))}\n\n`;
          [lastId, saidAtMs] = [id, nowMs];
        } else if (nowMs - saidAtMs >= commentEveryMs || run === first) {
          yield ":\n\n";
          saidAtMs = nowMs;
        }
        if (hasEnded(run)) return;
        await sleep(lookEveryMs, undefined, { signal: request.signal });
        if (services.phase() === "stopping") return;
        if (performance.now() - verifiedAtMs >= verifyEveryMs) {
          if (!(await isStillAllowed(call))) return;
          verifiedAtMs = performance.now();
        }
      }
    } finally {
      leave(caller.userId);
    }
  }

  /** Its key or session is still valid, and its role has not changed to one that may not. */
  async function isStillAllowed(call: CallWithCaller): Promise<boolean> {
    // Its key ends with this process.
    if (call.caller.proof.kind === "command_line") return true;
    try {
      checkAccess(await authenticate(services, call), "read");
      return true;
    } catch {
      return false;
    }
  }

  return withCaller("GET", `${path}/:id/events`, "read", async (call) => {
    const run = await findRun(services.evaluation, requesterOf(call), readPath(call, RunPath).id);
    enter(call.caller.userId);
    const body = await streamTexts(events(call, run), logBrokenResponse(services, call));
    return new Response(body, { headers: eventStreamHeaders });
  });
}

/** The same as long as nothing that the event says has changed. */
function eventId(run: Run): string {
  const { status, statusReason, counts, tries, notes } = run;
  const judges = (run.externalEvaluators ?? run.evaluators).length;
  const said = JSON.stringify([status, statusReason, counts, tries, judges, notes]);
  return Bun.hash(said).toString(36);
}
