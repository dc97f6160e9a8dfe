import { setTimeout as sleep } from "node:timers/promises";
import { RunPath } from "@presage/contract";
import { z } from "zod";
import { authenticate } from "../http/authenticate.ts";
import type { CallWithCaller } from "../http/call.ts";
import { checkAccess } from "../http/caller.ts";
import { errorResponse, noSuch } from "../http/describe.ts";
import type { HttpServices } from "../http/exchange.ts";
import { eventStreamHeaders, logBrokenResponse, streamTexts } from "../http/response.ts";
import { route } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import { neverAborted } from "../platform/limits/deadline.ts";
import type { Store } from "../platform/storage/store.ts";
import type { ClientCounts } from "./client/client-counts.ts";
import examples from "./examples.json" with { type: "json" };
import { hasEnded, type Run, toRun } from "./run.ts";
import { findRun } from "./runs.ts";

type AuthenticateNeeds = Parameters<typeof authenticate>[0];

interface EventServices extends AuthenticateNeeds, Pick<HttpServices, "log" | "phase"> {
  store: Store;
  clientCounts: ClientCounts;
  runStreams: RunStreams;
}

const lookEveryMs = 500;
/** How long the streams of a run share one read of it. */
const shareMs = 250;
/** Makes a stream end within five seconds of the revocation of its key or session. */
const verifyEveryMs = 3_000;
/** Shorter than proxies' time-outs. */
const commentEveryMs = 10_000;
const maxStreamsOfUser = 10;

/** One event of the stream. */
const RunEvent = z
  .object({
    event: z.literal("run").meta({ description: "The kind of event." }),
    id: z.string().meta({ description: "To continue from here, as `Last-Event-ID`." }),
    data: z.string().meta({
      contentMediaType: "application/json",
      contentSchema: { $ref: "#/components/schemas/Run" },
      description: "The run.",
    }),
  })
  .meta({ id: "RunEvent", description: "One event of the stream." });

/** The progress of a run as server-sent events. */
const streamRun = route("GET", "/v1/runs/:id/events", {
  needs: "read",
  id: "streamRun",
  summary: "Follow a run",
  description:
    "Streams the run as server-sent events named `run`: its current state, then every change until it ends. With `Last-Event-ID`, a known state is not sent again. A comment every 10 seconds keeps the connection open.",
  params: RunPath,
  responses: {
    "200": {
      description: "The events",
      content: {
        "text/event-stream": {
          schema: RunEvent,
          example: { event: "run", id: "2k9x1c7", data: JSON.stringify(examples.run) },
        },
      },
    },
    ...noSuch("run"),
    "429": errorResponse(
      "The user has 10 streams open",
      "A user may have at most 10 streams of events open. Close one, and try again.",
    ),
  },
  more: {
    requestParams: {
      path: RunPath,
      header: z.object({
        "last-event-id": z.string().optional().meta({ description: "The id of the last event received." }),
      }),
    },
  },
  async handle(services: EventServices, { call, requester, params }) {
    const run = await findRun(services, requester, params.id);
    enter(services.runStreams, call.caller.userId);
    const body = await streamTexts(events(services, call, run), logBrokenResponse(services, call));
    return new Response(body, { headers: eventStreamHeaders });
  },
});

export const runEventRoutes = [streamRun];

/** The state that the streams of a process share. */
export interface RunStreams {
  /** How many streams each user has open. */
  ofUser: Map<string, number>;
  /** Shared reads, in progress or recent, by the ids of their runs. */
  looks: Map<string, Promise<Run>>;
}

export function createRunStreams(): RunStreams {
  return { ofUser: new Map(), looks: new Map() };
}

function enter({ ofUser }: RunStreams, userId: string): void {
  const count = ofUser.get(userId) ?? 0;
  if (count >= maxStreamsOfUser)
    throw new ServiceError(
      "rate_limited",
      `A user may have at most ${maxStreamsOfUser} streams of events open. Close one, and try again.`,
      { retryAfterS: 1 },
    );
  ofUser.set(userId, count + 1);
}

function leave({ ofUser }: RunStreams, userId: string): void {
  const count = (ofUser.get(userId) ?? 0) - 1;
  if (count > 0) ofUser.set(userId, count);
  else ofUser.delete(userId);
}

/** One read serves all streams of a run, because the number of waiting reads of an account is limited. */
function look(services: EventServices, { id, account_id: accountId }: Run): Promise<Run> {
  const { looks } = services.runStreams;
  const shared = looks.get(id);
  if (shared !== undefined) return shared;
  // The read goes on even if the stream that began it ends.
  const looking = findRun(services, { accountId, signal: neverAborted }, id);
  looks.set(id, looking);
  const forget = () => void looks.delete(id);
  looking.then(() => setTimeout(forget, shareMs).unref(), forget);
  return looking;
}

async function* events(
  services: EventServices,
  call: CallWithCaller,
  first: Run,
): AsyncGenerator<string, void> {
  const { request, caller } = call;
  let lastId = request.headers.get("last-event-id");
  let saidAtMs = performance.now();
  let verifiedAtMs = saidAtMs;
  try {
    for (let run = first; ; run = await look(services, first)) {
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
        if (!(await isStillAllowed(services, call))) return;
        verifiedAtMs = performance.now();
      }
    }
  } finally {
    leave(services.runStreams, caller.userId);
  }
}

/** Whether the key or session is still valid, in the same account, and with a role that may read. */
async function isStillAllowed(services: AuthenticateNeeds, call: CallWithCaller): Promise<boolean> {
  // The key of the command line ends with this process.
  if (call.caller.proof.kind === "command_line") return true;
  try {
    const caller = await authenticate(services, call);
    checkAccess(caller, "read");
    return caller.accountId === call.caller.accountId;
  } catch {
    return false;
  }
}

/** Stays the same as long as the content of the event does. */
function eventId(run: Run): string {
  const { status, status_reason, counts, tries, notes } = run;
  const judges = (run.clientEvaluators ?? run.evaluators).length;
  const said = JSON.stringify([status, status_reason, counts, tries, judges, notes]);
  return Bun.hash(said).toString(36);
}
