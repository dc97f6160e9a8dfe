import { composePrompt } from "@presage/contract/compose-prompt";
import type { Presage } from "@presage/sdk";
import type { Transition } from "./read-transitions.ts";

export interface EvaluationRun {
  runId: string;
  app: string;
  /** Recorded as the evaluated model's name. */
  model: string;
}

const concurrency = 8;

/** Predicts the next state of each transition, and evaluates it against the real one. */
export async function evaluateTransitions(
  presage: Presage,
  transitions: readonly Transition[],
  run: EvaluationRun,
): Promise<void> {
  const waiting = transitions.values();
  const work = async () => {
    for (const transition of waiting) await evaluateOne(presage, transition, run);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

async function evaluateOne(
  presage: Presage,
  { environment, sampleId, context, interaction, nextState }: Transition,
  { runId, app, model }: EvaluationRun,
): Promise<void> {
  const prediction = await presage.predict({ ...(context && { context }), interaction });
  const messages = composePrompt(context, interaction);
  const system = messages.find(({ role }) => role === "system")?.content;
  const user = messages.find(({ role }) => role === "user")?.content;
  await presage.evaluate({
    evaluators: [
      { evaluator: "exact-match" },
      { evaluator: "rouge-l", profile_name: "close enough" },
      { evaluator: "state-change" },
      { evaluator: "error-taxonomy", profile_name: "slips" },
      ...(isJson(nextState) ? [{ evaluator: "json-match" }] : []),
    ],
    evaluated_model_system_prompt: system,
    evaluated_model_input: user,
    evaluated_model_output: prediction.response.content,
    evaluated_model_gold_answer: nextState,
    evaluated_model_name: model,
    app,
    tags: {
      environment,
      action: interaction.action.split(/[\s_[{"]+/).find((word) => word !== "") ?? "none",
    },
    dataset_id: environment,
    dataset_sample_id: sampleId,
    evaluation_run_id: runId,
  });
}

/** Tool responses are JSON between tags; prose cannot be matched as JSON. */
function isJson(text: string): boolean {
  return /^\s*(<tool_response>)?\s*[[{]/.test(text);
}
