import { UpstreamError } from "../../platform/errors.ts";
import { readTokenCounts } from "../../upstream/completion.ts";
import type { CompletionBody, CompletionChoice, CompletionRequest } from "../../upstream/upstream.ts";
import { EvaluationError } from "../evaluation-error.ts";
import { completeWithRetries, type JudgeCall, type JudgeModel } from "./complete-with-retries.ts";
import type { ModelCapabilities } from "./model-capabilities.ts";
import { type Question, type Turn, wordUserTurn } from "./prompts.ts";
import { responseFormats } from "./response-formats.ts";
import { isRejection, statedMessage } from "./stated-error.ts";
import { judgeRefused } from "./to-evaluation-error.ts";
import type { VerdictForm } from "./verdict-form.ts";

const verdictTokens = 512;
/** The second is for models that need more, most of them because they think before their verdict. */
const tokenLimits = [verdictTokens, verdictTokens + 8_192] as const;

/** A question to a model, from the first request to the verdict. */
export interface Inquiry {
  readonly model: JudgeModel;
  readonly question: Question;
  readonly form: VerdictForm<unknown>;
  readonly call: JudgeCall;
  /** What has been learned of the model so far. */
  capabilities: ModelCapabilities;
  attempts: number;
  promptTokens: number;
  completionTokens: number;
}

/** Asks once in one format: again with more tokens if they ran out, and without the fields that the model rejects. */
export async function askInFormat(inquiry: Inquiry, turn: Turn): Promise<CompletionBody> {
  let isCut = false;
  for (const tokenLimit of inquiry.capabilities.needsRoom ? tokenLimits.slice(1) : tokenLimits) {
    let body: CompletionBody;
    try {
      body = await askWithinCapabilities(inquiry, turn, tokenLimit);
    } catch (error) {
      // The first limit was accepted, so it is the larger one that does not fit, or does not end before the evaluation's deadline.
      if (isCut && (isTooMuch(error) || inquiry.call.signal.reason instanceof EvaluationError)) break;
      throw error;
    }
    const [choice] = body.choices;
    if (isRefusal(choice)) throw judgeRefused();
    if (choice.finish_reason !== "length") {
      if (isCut) inquiry.capabilities = { ...inquiry.capabilities, needsRoom: true };
      return body;
    }
    isCut = true;
  }
  throw new EvaluationError("judge_truncated", "The judge's model ran out of tokens before its verdict.");
}

function isTooMuch(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return false;
  return error.category === "context_exceeded" || error.category === "timeout" || isRejection(error);
}

function isRefusal({ message, finish_reason }: CompletionChoice): boolean {
  if (typeof message.refusal === "string" && message.refusal !== "") return true;
  return finish_reason === "content_filter" || finish_reason === "refusal";
}

async function askWithinCapabilities(
  inquiry: Inquiry,
  turn: Turn,
  tokenLimit: number,
): Promise<CompletionBody> {
  const { model, question, form, call } = inquiry;
  for (;;) {
    const { takesTemperature, tokenLimitField } = inquiry.capabilities;
    const request: CompletionRequest = {
      messages: [
        { role: "system", content: question.instructions },
        { role: "user", content: wordUserTurn(question, form.name, turn) },
      ],
      [tokenLimitField]: tokenLimit,
      ...(takesTemperature ? { temperature: 0 } : {}),
      ...responseFormats[turn.format].fields(form),
    };
    inquiry.attempts += 1;
    try {
      const { body } = await completeWithRetries(model, request, call);
      countTokens(inquiry, body.usage);
      return body;
    } catch (error) {
      const capabilities = error instanceof UpstreamError ? adapt(inquiry.capabilities, error) : undefined;
      if (capabilities === undefined) throw error;
      inquiry.capabilities = capabilities;
    }
  }
}

/** The capabilities without the one that the model says it lacks; undefined if that is none of these. */
function adapt(capabilities: ModelCapabilities, error: UpstreamError): ModelCapabilities | undefined {
  if (!isRejection(error)) return undefined;
  const message = statedMessage(error);
  if (capabilities.tokenLimitField === "max_tokens" && message.includes("max_completion_tokens")) {
    return { ...capabilities, tokenLimitField: "max_completion_tokens" };
  }
  if (capabilities.takesTemperature && /temperature/i.test(message))
    return { ...capabilities, takesTemperature: false };
  return undefined;
}

function countTokens(inquiry: Inquiry, usage: unknown): void {
  const { prompt_tokens, completion_tokens } = readTokenCounts(usage);
  inquiry.promptTokens += prompt_tokens;
  inquiry.completionTokens += completion_tokens;
}
