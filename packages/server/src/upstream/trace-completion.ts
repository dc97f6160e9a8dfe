import { ServiceError, UpstreamError } from "../platform/errors.ts";
import type { ChatParent, ChatSpan } from "../platform/observability/tracing.ts";
import { readTokenCounts } from "./read-completion.ts";
import type { CompletionOptions, CompletionRequest, Upstream, UpstreamCompletion } from "./upstream.ts";

/** Completes in a span of its own below the given one, if there is one, and sends its trace headers to the upstream. */
export function traceCompletion(
  complete: Upstream["complete"],
  span: ChatParent | undefined,
  request: CompletionRequest,
  clientSignal: AbortSignal,
  options?: CompletionOptions,
): Promise<UpstreamCompletion> {
  if (span === undefined) return complete(request, clientSignal, options);
  const chat = span.startChat(request);
  return endWith(chat, complete(request, clientSignal, { ...options, trace: chat.headers }), clientSignal);
}

/** Deliberately not passed the request: the callbacks would keep it in memory until the end. */
function endWith(
  chat: ChatSpan,
  call: Promise<UpstreamCompletion>,
  clientSignal: AbortSignal,
): Promise<UpstreamCompletion> {
  call.then(
    ({ body: { usage, choices, model }, model: sentModel, replica, cache }) => {
      const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = readTokenCounts(usage);
      const { finish_reason: finishReason } = choices[0];
      const source = cache?.result;
      chat.end({ model, sentModel, replica, source, finishReason, promptTokens, completionTokens });
    },
    (error: unknown) => chat.fail(errorType(error, clientSignal)),
  );
  return call;
}

/** A span's `error.type`. */
function errorType(error: unknown, { reason }: AbortSignal): string {
  if (error instanceof UpstreamError) return error.category;
  if (error instanceof ServiceError) return error.code;
  // A judge's deadline aborts its calls as well.
  const isDeadline = reason instanceof Error && "code" in reason && reason.code === "timeout";
  return isDeadline ? "timeout" : "caller_gone";
}
