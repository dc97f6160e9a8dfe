import type { ErrorCategory } from "@presage/contract";
import { ClientDisconnectedError, ServiceError, UpstreamError } from "../../platform/errors.ts";
import { shownTokens } from "../../platform/storage/answer-columns.ts";
import { readTokenCounts } from "../../upstream/completion.ts";
import type { CompletionBody, CompletionChoice, CompletionRequest } from "../../upstream/upstream.ts";
import { EvaluationError, type EvaluationErrorCode } from "../outcome.ts";
import {
  completeWithRetries,
  type JudgeCall,
  type JudgeModel,
  type ModelCapabilities,
  type Reading,
  readVerdict,
  rememberCapabilities,
  responseFormats,
  type VerdictForm,
} from "./judge-model.ts";
import {
  type Question,
  type ResponseFormatName,
  responseFormatNames,
  type Turn,
  wordUserTurn,
} from "./prompts.ts";

const rejectionStatuses = new Set([400, 404, 405, 415, 422, 501]);
const saysUnsupported =
  /not (yet )?(supported|implemented|available)|unsupported|unavailable now|does not support/i;

/** Whether the server rejects the request's form, so that another form may work. */
function isRejection(error: UpstreamError): boolean {
  if (error.category !== "upstream" || error.status === undefined) return false;
  return rejectionStatuses.has(error.status) || saysUnsupported.test(statedMessage(error));
}

function isContentFiltered({ stated }: UpstreamError): boolean {
  return stated?.code === "content_filter";
}

/** The server's own words, without the parts of a body that may echo the prompt. */
function statedMessage({ stated }: UpstreamError): string {
  return [stated?.message, stated?.param].filter((text) => typeof text === "string").join(" ");
}

const errorOf: Record<ErrorCategory, [code: EvaluationErrorCode, message: string]> = {
  rate_limit: ["judge_rate_limited", "The judge's model limits the rate of requests."],
  timeout: ["timeout", "The judge's model did not respond in time."],
  unavailable: ["judge_unreachable", "The judge's model cannot be reached."],
  context_exceeded: ["judge_context_exceeded", "The texts do not fit in the context of the judge's model."],
  upstream: ["judge_error", "The judge's model failed the request"],
  unusable_completion: ["judge_invalid_verdict", "The judge's answer cannot be used."],
};

/** The error of an evaluation without a verdict. It leaves out the upstream's own words, which may echo the prompt. */
function toEvaluationError(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof EvaluationError) return error;
  const isLimited = error instanceof UpstreamError && error.category === "rate_limit";
  // If the call was still waiting for a rate limit at the deadline, the limit is the reason.
  if (signal.aborted && !isLimited) {
    if (signal.reason instanceof ClientDisconnectedError) return signal.reason;
    return new EvaluationError("timeout", errorOf.timeout[1], { cause: error });
  }
  if (error instanceof ServiceError && error.code === "overloaded") {
    return new EvaluationError(
      "overloaded",
      "The server has no memory left for the response of the judge's model.",
      {
        cause: error,
      },
    );
  }
  if (!(error instanceof UpstreamError)) return error;
  if (isContentFiltered(error)) return judgeRefused();
  const [code, message] = errorOf[error.category];
  const sentence = error.category === "upstream" ? `${message}${hintOf(error.status)}` : message;
  return new EvaluationError(code, sentence, { cause: error });
}

function hintOf(status: number | undefined): string {
  if (status === undefined) return ".";
  if (status === 401 || status === 403)
    return ` (HTTP ${status}): it rejects the key in PRESAGE_JUDGE_API_KEY.`;
  if (status === 404) return " (HTTP 404): see PRESAGE_JUDGE_URL and PRESAGE_JUDGE_MODEL.";
  return ` (HTTP ${status}).`;
}

function judgeRefused(): EvaluationError {
  return new EvaluationError("judge_refused", "The judge's model refused to judge these texts.");
}

const verdictTokens = 512;
/** The second limit is for models that need more, most of them because they think before their verdict. */
const tokenLimits = [verdictTokens, verdictTokens + 8_192] as const;

/** A question to a model, from the first request to the verdict. */
export interface Inquiry {
  readonly model: JudgeModel;
  readonly question: Question;
  readonly form: VerdictForm<unknown>;
  readonly call: JudgeCall;
  /** What has been learned about the model so far. */
  capabilities: ModelCapabilities;
  attempts: number;
  promptTokens: number;
  completionTokens: number;
}

/** Asks once in one format: again with more tokens if they ran out, and without the fields that the model rejects. */
async function askInFormat(inquiry: Inquiry, turn: Turn): Promise<CompletionBody> {
  const { needsRoom } = inquiry.capabilities;
  let isCut = false;
  for (const tokenLimit of needsRoom ? tokenLimits.toReversed() : tokenLimits) {
    let body: CompletionBody;
    try {
      body = await askWithinCapabilities(inquiry, turn, tokenLimit);
    } catch (error) {
      // The first limit was accepted, so the larger one does not fit, or the answer does not end before the evaluation's deadline.
      if (isCut && (isTooMuch(error) || inquiry.call.signal.reason instanceof EvaluationError)) break;
      // A long prompt may leave room only for a short verdict.
      if (needsRoom && tokenLimit !== verdictTokens && isContextExceeded(error)) continue;
      throw error;
    }
    const [choice] = body.choices;
    if (isRefusal(choice)) throw judgeRefused();
    if (choice.finish_reason !== "length") {
      if (isCut) inquiry.capabilities = { ...inquiry.capabilities, needsRoom: true };
      return body;
    }
    isCut = true;
    if (needsRoom) break;
  }
  throw new EvaluationError("judge_truncated", "The judge's model ran out of tokens before its verdict.");
}

function isTooMuch(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return false;
  return isContextExceeded(error) || error.category === "timeout" || isRejection(error);
}

function isContextExceeded(error: unknown): boolean {
  return error instanceof UpstreamError && error.category === "context_exceeded";
}

function isRefusal({ message, finish_reason }: CompletionChoice): boolean {
  if (typeof message.refusal === "string" && message.refusal !== "") return true;
  return finish_reason === "content_filter" || finish_reason === "refusal";
}

async function askWithinCapabilities(inquiry: Inquiry, turn: Turn, tokenLimit: number) {
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

/** The capabilities without the one that the model says it lacks; undefined if that is not one of these. */
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

export interface GivenVerdict<Value> {
  value: Value;
  /** How the verdict was obtained, for the result's `additional_info.extra`. */
  asked: {
    /** The model's name for itself. */
    model: string | null;
    rung: ResponseFormatName;
    /** Requests with a question; a wait for a rate limit belongs to its request. */
    attempts: number;
    /** The tokens of all attempts together. */
    usage: Record<"prompt_tokens" | "completion_tokens", number | null>;
  };
}

export type AskForVerdict = ReturnType<typeof createAskForVerdict>;

/**
 * Asks a model for a verdict in a form. Throws an `EvaluationError` or a `ClientDisconnectedError`.
 *
 * The most reliable format in which the model gives a verdict is found only by real questions. It is remembered by profile
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
      // The first complaint was for another reason, so the model is asked once more.
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
