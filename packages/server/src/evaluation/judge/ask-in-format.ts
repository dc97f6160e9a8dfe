import { UpstreamError } from "../../errors.ts";
import { isRefused } from "../../upstream/read-message.ts";
import type { CompletionBody, CompletionRequest } from "../../upstream/upstream.ts";
import { EvaluationError } from "../evaluation-error.ts";
import { askPatiently, type JudgeModel } from "./complete-with-retries.ts";
import type { JudgeCall } from "./judge-call.ts";
import type { Habits } from "./model-capabilities.ts";
import { wordUserTurn } from "./prompts.ts";
import type { Question, Turn } from "./question.ts";
import { rungs } from "./response-formats.ts";
import { isRejection, statedMessage } from "./stated-error.ts";
import { judgeRefused } from "./to-evaluation-error.ts";
import type { VerdictForm } from "./verdict-form.ts";

/** The second is for a model that needed more; most are servers that think aloud. */
const tokenLimits = [4_096, 16_384] as const;

export interface Asking {
  /** What has been learned of the model so far. */
  habits: Habits;
  attempts: number;
  promptTokens: number;
  completionTokens: number;
}

export interface AskingParts {
  model: JudgeModel;
  question: Question;
  form: VerdictForm<unknown>;
  call: JudgeCall;
}

/** Asks once on one rung: again with more tokens if they ran out, and without what the model does not take. */
export async function askOnRung(parts: AskingParts, asking: Asking, turn: Turn): Promise<CompletionBody> {
  for (const tokenLimit of tokenLimits) {
    let body: CompletionBody;
    try {
      body = await askInItsWay(parts, asking, turn, tokenLimit);
    } catch (error) {
      // The first limit was taken; the larger one is what does not fit.
      if (tokenLimit !== tokenLimits[0] && isTooMuch(error)) break;
      throw error;
    }
    const [choice] = body.choices;
    if (isRefused(choice)) throw judgeRefused();
    if (choice.finish_reason !== "length") return body;
  }
  throw new EvaluationError("judge_truncated", "The judge's model ran out of tokens before its verdict.");
}

function isTooMuch(error: unknown): boolean {
  return error instanceof UpstreamError && (error.category === "context_exceeded" || isRejection(error));
}

async function askInItsWay(
  { model, question, form, call }: AskingParts,
  asking: Asking,
  turn: Turn,
  tokenLimit: number,
): Promise<CompletionBody> {
  for (;;) {
    const { takesTemperature, tokenLimitField } = asking.habits;
    const request: CompletionRequest = {
      messages: [
        { role: "system", content: question.instructions },
        { role: "user", content: wordUserTurn(question, form.name, turn) },
      ],
      [tokenLimitField]: tokenLimit,
      ...(takesTemperature ? { temperature: 0 } : {}),
      ...rungs[turn.rung].fields(form),
    };
    asking.attempts += 1;
    try {
      const { body } = await askPatiently(model, request, call);
      count(asking, body.usage);
      return body;
    } catch (error) {
      const habits = error instanceof UpstreamError ? adapt(asking.habits, error) : undefined;
      if (habits === undefined) throw error;
      asking.habits = habits;
    }
  }
}

/** Other habits, if the model says that it is one of these that it does not take. */
function adapt(habits: Habits, error: UpstreamError): Habits | undefined {
  if (!isRejection(error)) return undefined;
  const message = statedMessage(error);
  if (habits.tokenLimitField === "max_tokens" && message.includes("max_completion_tokens")) {
    return { ...habits, tokenLimitField: "max_completion_tokens" };
  }
  if (habits.takesTemperature && /temperature/i.test(message)) return { ...habits, takesTemperature: false };
  return undefined;
}

function count(asking: Asking, usage: unknown): void {
  const { prompt_tokens, completion_tokens } = Object(usage) as Record<string, unknown>;
  asking.promptTokens += typeof prompt_tokens === "number" ? prompt_tokens : 0;
  asking.completionTokens += typeof completion_tokens === "number" ? completion_tokens : 0;
}
