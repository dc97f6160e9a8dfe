import { ErrorCategory, OrsCallRequest, type OrsCallResult, orsText } from "@presage/contract";
import { type CallWithCaller, requesterOf } from "../../http/call.ts";
import { limitHolders } from "../../http/caller.ts";
import { countUsage, type HttpServices } from "../../http/exchange.ts";
import { readBody } from "../../http/request.ts";
import { eventStreamHeaders, logBrokenResponse, streamTexts } from "../../http/response.ts";
import type { Admission } from "../../platform/limits/admission.ts";
import { orLate } from "../../platform/limits/deadline.ts";
import { reserveBytesAnyway } from "../../platform/limits/memory.ts";
import { nowMicros } from "../../platform/storage/columns.ts";
import { type AskServices, askForRequest } from "../episodes/ask.ts";
import { showReality, toStep } from "../episodes/show-episode.ts";
import { openSessionOf } from "./ors-route.ts";
import type { OpenSession, SessionServices } from "./ors-sessions.ts";
import type { Delivery } from "./ors-sessions-store.ts";
import { comment, environmentRoutes, toChunks, toEvent } from "./protocol.ts";
import {
  type CallError,
  type CallOutcome,
  type CallServices,
  type FoundCall,
  findCall,
  takeCall,
} from "./take-call.ts";

/** The outcome of a call, in the words of the Open Reward Standard. Agents are shown the blocks, not the metadata. */
function toCallResult(outcome: CallOutcome, more: object): OrsCallResult {
  if (outcome.kind === "refused") return { ok: false, error: outcome.message };
  if (outcome.kind === "step") {
    const { observation, reward, terminated, truncated, info } = toStep(outcome.result);
    const { episode_id } = outcome.result.step;
    const metadata = { episode_id, terminated, truncated, ...info, ...more };
    const finished = terminated || truncated;
    return { ok: true, output: { blocks: [orsText(observation)], metadata, reward, finished } };
  }
  const { id, outcome: end, stop_reason, error } = outcome.episode;
  const metadata = {
    episode_id: id,
    terminated: false,
    truncated: true,
    outcome: end,
    stop_reason,
    error: JSON.parse(error ?? "null") as CallError | null,
  };
  // There is no observation to show.
  return { ok: true, output: { blocks: [], metadata, reward: null, finished: true } };
}

/** The client gives up on a connection that is silent for 30 s. */
const commentEveryMs = 10_000;

type Services = HttpServices &
  CallServices &
  SessionServices &
  AskServices & {
    admission: Admission;
    /** Records that results were sent in full; many sessions share a commit. */
    ors: { markDelivered(delivery: Delivery): Promise<unknown> };
  };

/** Calls of an environment's tool: each takes a step, and its response lasts until the step is taken. */
export const orsCallRoutes = environmentRoutes("POST", "/call", async (services: Services, call) => {
  const body = await readBody(call, OrsCallRequest, services.settings.maxShortBodyBytes);
  const open = await openSessionOf(services, call);
  const wanted = { name: body.name, input: body.input, taskId: body.task_id ?? undefined };
  const found = await findCall(services, open, wanted);
  if (found === undefined) return eventStream(toEvent("error", "unknown task_id"));
  const outcome = found.outcome ?? services.ors.running.get(found.taskId)?.outcome;
  const step = outcome === undefined ? await prepareStep(services, call, open, found) : waitFor(outcome);
  const texts = eventsOf(services, call, open, found, step);
  const response = eventStream(await streamTexts(texts, logBrokenResponse(services, call)));
  // A client that has disconnected by now may never read it.
  if (call.request.signal.aborted) step.abandon();
  return response;
});

/** Admits a step, which counts as in progress until it is taken, whether or not its client waits for it. */
async function prepareStep(
  services: Services,
  call: CallWithCaller,
  { session, episode }: OpenSession,
  { taskId, action, isNewTask = false }: FoundCall,
): Promise<Step> {
  const { admission } = services;
  const { exchange, caller } = call;
  const holders = limitHolders(caller);
  countUsage(call, "predict");
  exchange.rate = await admission.admit(holders);
  const ended = Promise.withResolvers<void>();
  exchange.lasting = ended.promise;
  let hasEnded = false;
  const end = () => {
    if (hasEnded) return;
    hasEnded = true;
    admission.leave(holders);
    reserveBytesAnyway(exchange, 0);
    ended.resolve();
  };
  let isTaking = false;
  return {
    take() {
      isTaking = true;
      const asked = { sessionId: session.id, taskId, action, isNewTask };
      const wanted = { accountId: episode.row.account_id, ...asked };
      const taken = takeCall(services, wanted, askForRequest(services, call));
      return taken
        .then((outcome) => {
          exchange.category = categoryOf(outcome);
          return outcome;
        })
        .finally(end);
    },
    abandon() {
      if (isTaking) return;
      // No prediction was made.
      exchange.countsFor = undefined;
      end();
    },
  };
}

/** The task's id before any work, comments while the step is taken, and then the result. */
async function* eventsOf(
  services: Services,
  call: CallWithCaller,
  { session, episode }: OpenSession,
  { taskId }: FoundCall,
  step: Step,
): AsyncGenerator<string, void> {
  const { request } = call;
  const requester = requesterOf(call);
  try {
    yield toEvent("task_id", taskId);
    const taken = step.take();
    const answered = taken.then(() => false);
    while (await orLate(answered, true, commentEveryMs)) yield comment;
    const outcome = await taken;
    const reality = outcome.kind === "step" ? await showReality(services, requester, episode) : {};
    const chunks = toChunks(JSON.stringify(toCallResult(outcome, reality)));
    const last = chunks.pop() ?? "";
    for (const chunk of chunks) yield toEvent("chunk", chunk);
    // A client that has disconnected comes back for the result.
    if (request.signal.aborted) return;
    // Before the end is sent, because the client's next call may reach another process.
    await noteDelivery(services, session.id, outcome);
    yield toEvent("end", last);
  } finally {
    step.abandon();
  }
}

async function noteDelivery({ ors }: Services, id: string, outcome: CallOutcome): Promise<void> {
  if (outcome.kind !== "step") return;
  const steps = outcome.result.step.step;
  await ors.markDelivered({ id, steps, at: nowMicros() });
}

interface Step {
  take(): Promise<CallOutcome>;
  /** Called when nobody waits for the step. A step that has not begun is not taken. */
  abandon(): void;
}

/** A step that was taken already, or is being taken for another request. */
function waitFor(outcome: CallOutcome | Promise<CallOutcome>): Step {
  return { take: async () => await outcome, abandon() {} };
}

/** Why the prediction failed, for metrics and usage. */
function categoryOf(outcome: CallOutcome): ErrorCategory | undefined {
  if (outcome.kind !== "failed") return undefined;
  const { category } = JSON.parse(outcome.episode.error ?? "{}") as Partial<CallError>;
  return ErrorCategory.safeParse(category).data;
}

function eventStream(body: string | ReadableStream<Uint8Array>): Response {
  return new Response(body, { headers: eventStreamHeaders });
}
