import { UpstreamError } from "../errors.ts";
import { askWithRetries } from "./ask-with-retries.ts";
import { checkCompletion, checkModelList } from "./check-answer.ts";
import { createSendOnce } from "./send-once.ts";
import { createServedModel } from "./served-model.ts";
import { underDeadline } from "./under-deadline.ts";
import type {
  CompletionRequest,
  ModelList,
  Upstream,
  UpstreamCompletion,
  UpstreamOptions,
} from "./upstream.ts";

const nobodyHangsUp = new AbortController().signal;

/** A client of one chat-completions deployment. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { timeoutMs, retries } = options;
  const send = createSendOnce(options);
  const servedModel = createServedModel(options.model, () => listModels(nobodyHangsUp));

  async function listModels(callerGone: AbortSignal): Promise<ModelList> {
    return await underDeadline(timeoutMs, callerGone, (signal) =>
      askWithRetries(retries, signal, async (isLastTry) =>
        checkModelList(await send({ method: "GET", path: "/models", signal, freshConnection: isLastTry })),
      ),
    );
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
        // The deployment may have been restarted with another model.
        const isUnknownModel = error instanceof UpstreamError && error.status === 404;
        if (isUnknownModel && request.model === undefined) servedModel.forget();
        throw error;
      }
    },
  };
}
