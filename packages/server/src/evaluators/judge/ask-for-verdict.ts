import { UpstreamError } from "../../platform/errors.ts";
import { shownTokens } from "../../platform/storage/answer-columns.ts";
import { EvaluationError } from "../evaluation-error.ts";
import { askInFormat, type Inquiry } from "./ask-in-format.ts";
import type { JudgeCall, JudgeModel } from "./complete-with-retries.ts";
import { rememberCapabilities } from "./model-capabilities.ts";
import type { Question, Turn } from "./prompts.ts";
import { type ResponseFormatName, responseFormatNames, responseFormats } from "./response-formats.ts";
import { isContentFiltered, isRejection } from "./stated-error.ts";
import { toEvaluationError } from "./to-evaluation-error.ts";
import { type Reading, readVerdict, type VerdictForm } from "./verdict-form.ts";

export interface GivenVerdict<Value> {
  value: Value;
  /** How it was obtained, for the result's `additional_info.extra`. */
  asked: {
    /** As the model names itself. */
    model: string | null;
    rung: ResponseFormatName;
    /** Requests with a question; a wait for a rate limit belongs to its request. */
    attempts: number;
    /** Of all attempts together. */
    usage: Record<"prompt_tokens" | "completion_tokens", number | null>;
  };
}

export type AskForVerdict = ReturnType<typeof createAskForVerdict>;

/**
 * Asks a model for a verdict in a form. Throws an `EvaluationError` or a `ClientDisconnectedError`.
 *
 * The most reliable format in which the model gives a verdict is found by real questions only. It is remembered by profile
 * and account: an output that manipulates the model must not affect other profiles.
 */
export function createAskForVerdict(model: JudgeModel) {
  const capabilitiesFor = rememberCapabilities();

  return async <Value>(
    question: Question,
    form: VerdictForm<Value>,
    call: JudgeCall,
  ): Promise<GivenVerdict<Value>> => {
    const memory = capabilitiesFor(`${call.accountId}/${call.profilePublicId}`);
    const counts = { attempts: 0, promptTokens: 0, completionTokens: 0 };
    const inquiry: Inquiry = { model, question, form, call, capabilities: memory.recall(), ...counts };
    const prompt = question.instructions + question.content;

    async function ask(turn: Turn) {
      const body = await askInFormat(inquiry, turn);
      const { format } = turn;
      const reading = readVerdict(form, responseFormats[format].candidates(body.choices[0], form, prompt));
      const modelName = typeof body.model === "string" ? body.model : "";
      if (reading.kind !== "unreadable")
        memory.learn(modelName, { ...inquiry.capabilities, format, isProven: true });
      return { format, reading, modelName };
    }

    /** The answer in the most reliable format that works, from the remembered one on. */
    async function askInEachFormat() {
      const { format: first, isProven } = inquiry.capabilities;
      for (const format of responseFormatNames.slice(responseFormatNames.indexOf(first))) {
        const isLast = format === responseFormatNames.at(-1);
        // One bad answer does not discredit a format that has worked; it is asked again.
        const isSettled = isLast || (isProven && format === first);
        const answer = await ask({ format }).catch((error: unknown) => {
          if (isLast || !mayWorkOtherwise(error)) throw error;
          return undefined;
        });
        if (answer !== undefined && (isSettled || answer.reading.kind !== "unreadable")) return answer;
      }
      throw new Error("The last format neither answered nor failed.");
    }

    try {
      let answer = await askInEachFormat();
      const { reading: first } = answer;
      if (first.kind !== "verdict") answer = await ask({ format: answer.format, complaint: first });
      const { reading: second } = answer;
      // It was asked again for another reason.
      if (second.kind === "contradictory" && first.kind !== "contradictory")
        answer = await ask({ format: answer.format, complaint: second });
      const { format, reading, modelName } = answer;
      if (reading.kind === "unreadable") memory.forget(modelName);
      return { value: verdictOf(reading), asked: describe(inquiry, format, modelName) };
    } catch (error) {
      throw toEvaluationError(error, call.signal);
    }
  };
}

function mayWorkOtherwise(error: unknown): boolean {
  return error instanceof UpstreamError && isRejection(error) && !isContentFiltered(error);
}

function verdictOf<Value>(reading: Reading<Value>): Value {
  if (reading.kind === "verdict") return reading.value;
  if (reading.kind === "contradictory")
    throw new EvaluationError(
      "contradictory_verdict",
      `The judge's verdict and score contradict each other, even when asked again. ${reading.rule}`,
    );
  const problem =
    reading.kind === "not_allowed" ? "has a value that is not allowed" : "cannot be read as a verdict";
  throw new EvaluationError("judge_invalid_verdict", `The judge's answer ${problem}, even when asked again.`);
}

function describe(
  { attempts, promptTokens, completionTokens }: Inquiry,
  rung: ResponseFormatName,
  modelName: string,
): GivenVerdict<unknown>["asked"] {
  return {
    model: modelName === "" ? null : modelName,
    rung,
    attempts,
    usage: shownTokens({ prompt_tokens: promptTokens, completion_tokens: completionTokens }),
  };
}
