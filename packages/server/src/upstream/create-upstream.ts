import { UpstreamError } from "../errors.ts";
import { askWithRetries } from "./ask-with-retries.ts";
import { checkCompletion } from "./check-completion.ts";
import { createSendOnce } from "./send-once.ts";
import { createServedModel } from "./served-model.ts";
import { underDeadline } from "./under-deadline.ts";
import type { CompletionRequest, Upstream, UpstreamCompletion, UpstreamOptions } from "./upstream.ts";

const nobodyHangsUp = new AbortController().signal;

/** A client of one chat-completions deployment. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { timeoutMs, retries } = options;
  const send = createSendOnce(options);
  const servedModel = createServedModel(options.model, () => listModels(nobodyHangsUp));

  async function listModels(callerGone: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    return await underDeadline(timeoutMs, callerGone, async (signal) => {
      const answer = await askWithRetries(retries, signal, (isLastTry) =>
        send({ method: "GET", path: "/models", signal, freshConnection: isLastTry }),
      );
      return answer.bytes;
    });
  }

  async function complete(request: CompletionRequest, signal: AbortSignal): Promise<UpstreamCompletion> {
    const model = request.model ?? (await servedModel.name(signal));
    const body = JSON.stringify({ ...request, model });
    return await askWithRetries(retries, signal, async (isLastTry) =>
      checkCompletion(
        await send({ method: "POST", path: "/chat/completions", body, signal, freshConnection: isLastTry }),
      ),
    );
  }

  return {
    listModels,
    async complete(request, callerGone) {
      try {
        return await underDeadline(timeoutMs, callerGone, (signal) => complete(request, signal));
      } catch (error) {
        if (error instanceof UpstreamError && error.status === 404) servedModel.forget();
        throw error;
      }
    },
  };
}
