import { UpstreamError } from "../errors.ts";
import { askWithRetries } from "./ask-with-retries.ts";
import { checkCompletion, checkModelList } from "./check-answer.ts";
import { startDeadline } from "./deadline.ts";
import { createSendOnce } from "./send-once.ts";
import { createServedModel } from "./served-model.ts";
import type {
  CompletionRequest,
  ModelList,
  Upstream,
  UpstreamCompletion,
  UpstreamOptions,
} from "./upstream.ts";

/** A client of one chat-completions deployment. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { timeoutMs, retries } = options;
  const send = createSendOnce(options);
  // Many callers wait for the one answer, so none of them can call it off.
  const servedModel = createServedModel(options.model, () => listModels(new AbortController().signal));

  async function listModels(callerGone: AbortSignal): Promise<ModelList> {
    const { signal, end } = startDeadline(timeoutMs, callerGone);
    try {
      return checkModelList(await askWithRetries(send, { method: "GET", path: "/models", signal }, retries));
    } finally {
      end();
    }
  }

  // Thousands of these wait at once; what it holds meanwhile is the body, for another try.
  async function complete(
    request: CompletionRequest,
    callerGone: AbortSignal,
    mayRetry?: () => boolean,
  ): Promise<UpstreamCompletion> {
    const { signal, end } = startDeadline(timeoutMs, callerGone);
    const namesNoModel = request.model === undefined;
    try {
      const model = request.model ?? servedModel.known() ?? (await servedModel.find(signal));
      const body = JSON.stringify({ ...request, model });
      const call = { method: "POST", path: "/chat/completions", body, signal } as const;
      return checkCompletion(await askWithRetries(send, call, retries, mayRetry));
    } catch (error) {
      // The deployment may have been restarted with another model.
      if (namesNoModel && error instanceof UpstreamError && error.status === 404) servedModel.forget();
      throw error;
    } finally {
      end();
    }
  }

  return { complete, listModels };
}
