import { UpstreamError } from "../../errors.ts";
import type { CompletionBody } from "../../upstream/upstream.ts";
import { EvaluationError } from "../evaluation-error.ts";
import { type Asking, askOnRung } from "./ask-in-format.ts";
import type { JudgeModel } from "./complete-with-retries.ts";
import type { JudgeCall } from "./judge-call.ts";
import { rememberHabits } from "./model-capabilities.ts";
import type { Question, Turn } from "./question.ts";
import { type RungName, rungNames, rungs } from "./response-formats.ts";
import { isContentFiltered, isRejection } from "./stated-error.ts";
import { toEvaluationError } from "./to-evaluation-error.ts";
import { type Reading, readVerdict, type VerdictForm } from "./verdict-form.ts";

export interface GivenVerdict<Value> {
  value: Value;
  /** How it was come by, for the result's `additional_info.extra`. */
  asked: {
    /** As the model names itself. */
    model: string | null;
    rung: RungName;
    /** Questions put; waiting for a rate limit is part of one. */
    attempts: number;
    /** Of all attempts together. */
    usage: { prompt_tokens: number; completion_tokens: number };
  };
}

/** Asks a model for a verdict in a form. Throws `EvaluationError`, or `ClientDisconnectedError`. */
export type AskForVerdict = <Value>(
  question: Question,
  form: VerdictForm<Value>,
  call: JudgeCall,
) => Promise<GivenVerdict<Value>>;

/**
 * Finds for each model the surest way in which it gives a verdict, by real questions only, and keeps to it: a step
 * down is remembered once the lower rung has worked. Each profile of each account finds out for itself: what an output
 * talks the model into must not change how others ask.
 */
export function createAskForVerdict(judgeModel: JudgeModel): AskForVerdict {
  const habitsOf = rememberHabits();

  return async (question, form, call) => {
    const memory = habitsOf(`${call.accountId}/${call.profilePublicId}`);
    const asking: Asking = { habits: memory.recall(), attempts: 0, promptTokens: 0, completionTokens: 0 };
    const parts = { model: judgeModel, question, form, call };
    const prompt = question.instructions + question.material;

    async function ask(turn: Turn) {
      const body = await askOnRung(parts, asking, turn);
      const candidates = rungs[turn.rung].candidates(body.choices[0], form, prompt);
      const reading = readVerdict(form, candidates);
      const model = nameOf(body);
      if (reading.kind !== "unreadable")
        memory.learn(model, { ...asking.habits, rung: turn.rung, isProven: true });
      return { reading, model };
    }

    /** The answer on the highest rung that works, from the remembered one down. */
    async function climbDown() {
      for (const rung of rungNames.slice(rungNames.indexOf(asking.habits.rung))) {
        const isLast = rung === rungNames.at(-1);
        // One bad answer does not unsettle a rung that has worked; there it is asked again.
        const isSettled = isLast || (asking.habits.isProven && rung === asking.habits.rung);
        const answer = await ask({ rung }).catch((error: unknown) => {
          if (isLast || !isStepDown(error)) throw error;
          return undefined;
        });
        if (answer !== undefined && (isSettled || answer.reading.kind !== "unreadable"))
          return { rung, ...answer };
      }
      throw new Error("The last rung neither answered nor failed.");
    }

    try {
      let { rung, reading, model } = await climbDown();
      if (reading.kind !== "verdict") {
        ({ reading, model } = await ask({ rung, complaint: reading.kind }));
      }
      if (reading.kind === "unreadable") memory.forget(model);
      return { value: verdictOf(reading), asked: describe(asking, rung, model) };
    } catch (error) {
      throw toEvaluationError(error, call.signal);
    }
  };
}

function isStepDown(error: unknown): boolean {
  return error instanceof UpstreamError && isRejection(error) && !isContentFiltered(error);
}

function verdictOf<Value>(reading: Reading<Value>): Value {
  if (reading.kind === "verdict") return reading.value;
  const what = reading.kind === "off_menu" ? "says what is not on the menu" : "cannot be read as a verdict";
  throw new EvaluationError("judge_invalid_verdict", `The judge's answer ${what}, also when asked again.`);
}

function nameOf({ model }: CompletionBody): string {
  return typeof model === "string" ? model : "";
}

function describe(asking: Asking, rung: RungName, model: string): GivenVerdict<unknown>["asked"] {
  return {
    model: model === "" ? null : model,
    rung,
    attempts: asking.attempts,
    usage: { prompt_tokens: asking.promptTokens, completion_tokens: asking.completionTokens },
  };
}
