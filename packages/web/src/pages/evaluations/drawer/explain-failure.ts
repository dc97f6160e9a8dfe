export interface Failure {
  /** A word for programs. */
  code: string;
  message: string;
  /** What the reader can do. */
  advice: string;
}

const advices: Record<string, string> = {
  missing_input: "Send the text that is named along with the evaluation.",
  unusable_input: "Send the text in the form that the evaluator needs, or choose another evaluator.",
  timeout: "Evaluate it again. If it stays so, shorten the texts or give the judge’s model more time.",
  overloaded: "Evaluate it again in a moment, with fewer evaluations at once.",
  needs_model: "Name one, start Presage again, and evaluate again.",
  judge_unreachable:
    "Check that the judge’s model runs and that PRESAGE_JUDGE_URL leads to it, then evaluate again.",
  judge_rate_limited: "Wait, then evaluate again with fewer evaluations at once.",
  judge_refused: "Take another model for judging, or word the pass criteria of the profile differently.",
  judge_truncated: "The model needs more tokens for its verdict: give it a larger limit, or a shorter task.",
  judge_invalid_verdict:
    "The model cannot keep to the form of a verdict. Evaluate again, or take another model for judging.",
  judge_context_exceeded: "Shorten the texts, or take a model with a longer context for judging.",
  judge_error: "Look at what the judge’s model says in its own log, then evaluate again.",
  no_such_taxonomy: "Name an error taxonomy in the profile that there is.",
  invalid_profile: "Give the profile a new revision that this version of the evaluator understands.",
};

const otherwise = "Evaluate it again. If it stays so, tell whoever runs the server.";

/** Why there is no verdict, from a message of the form `code: sentence`. */
export function explainFailure(errorMessage: string | null): Failure {
  const match = /^([a-z_]+): ([\s\S]*)$/.exec(errorMessage ?? "");
  const code = match?.[1] ?? "unknown";
  const message = match?.[2] ?? errorMessage ?? "The evaluation came to no verdict.";
  return { code, message, advice: advices[code] ?? otherwise };
}
