import { errorResponse } from "../http/errors.ts";
import { bytesOfValues } from "../http/reserve-memory.ts";
import type { CallWithCaller } from "../http/route.ts";
import { ClientDisconnectedError } from "../platform/errors.ts";
import { microsPerMs, nowMicros } from "../platform/storage/micros.ts";
import type { Capture } from "./capture.ts";
import type { CapturedOutcome, KeptRequest } from "./captured-rows.ts";
import { type ChatRequest, setFields } from "./complete-chat.ts";
import type { Complete } from "./predict.ts";
import { readAnswer } from "./read-answer.ts";

/** The same `complete`, but its outcome is kept if this request's are to be; the very same if not. */
export function withCapture(
  capture: Pick<Capture, "decide" | "hold" | "keep" | "release">,
  call: CallWithCaller,
  body: ChatRequest,
  askedDeployment: string,
  complete: Complete,
): Complete {
  const { caller, exchange } = call;
  const { accountId, proof } = caller;
  const captures = decideCapture(capture, call);
  if (captures === "off") return complete;
  return (request, clientSignal) => {
    const startedAtMs = performance.now();
    const pending = complete(request, clientSignal);
    const hold = capture.hold(bytesOfValues(exchange));
    if (hold === undefined) return pending;
    const keep = (deployment: string, outcome: CapturedOutcome) =>
      capture.keep(hold, {
        id: Bun.randomUUIDv7(),
        accountId,
        createdAt: nowMicros(),
        apiKeyId: proof.kind === "key" ? proof.keyId : undefined,
        requestId: exchange.requestId,
        context: body.context,
        asked: toKeptRequest(body),
        deployment,
        latencyMicros: Math.round((performance.now() - startedAtMs) * microsPerMs),
        outcome,
      });
    // Beside the call instead of around it: thousands wait at once.
    pending.then(
      (completion) => {
        if (captures === "failures") capture.release(hold);
        else keep(completion.deployment, { status: "success", answer: readAnswer(completion) });
      },
      (error: unknown) => {
        // What the model would have answered is unknown.
        if (error instanceof ClientDisconnectedError) capture.release(hold);
        else keep(askedDeployment, toFailure(error, exchange.requestId));
      },
    );
    return pending;
  };
}

/** Which outcomes of this request are to be kept. */
export function decideCapture(
  capture: Pick<Capture, "decide">,
  { caller: { proof }, exchange }: CallWithCaller,
): ReturnType<Capture["decide"]> {
  return capture.decide(proof.kind === "key" ? proof.capture : null, exchange.requestId);
}

/** A prediction's request has the fields of a structured chat. */
function toKeptRequest(body: ChatRequest): KeptRequest {
  const { model, messages, interaction } = body;
  return { ...(interaction ? { interaction } : { messages }), model, params: setFields(body) };
}

/** In the words of the response, with what the upstream said. */
function toFailure(error: unknown, requestId: string): CapturedOutcome {
  const { body, category } = errorResponse(error, requestId);
  const said = "upstream_body" in body && body.upstream_body ? `\n\n${body.upstream_body}` : "";
  return { status: "failed", category, message: `${body.detail}${said}` };
}
