export interface Failure {
  code: string;
  message: string;
  /** What the user can do. */
  advice: string;
}

const advices: Record<string, string> = {
  missing_input: "Include the named text in the request.",
  unusable_input: "Send the text in the format that the evaluator needs, or choose another evaluator.",
  timeout: "Evaluate again. If this persists, shorten the texts or give the judge’s model more time.",
  overloaded: "Evaluate again in a moment, with fewer evaluations at once.",
  needs_model: "Configure a model, restart Presage and evaluate again.",
  judge_unreachable:
    "Check that the judge’s model is running and that PRESAGE_JUDGE_URL points to it, then evaluate again.",
  judge_rate_limited: "Wait, then evaluate again with fewer evaluations at once.",
  judge_refused: "Use another model for judging, or reword the pass criteria of the profile.",
  judge_truncated:
    "The model wrote on and on, or thought too long: use another one for judging, or shorten the task.",
  judge_invalid_verdict:
    "The model does not keep to the format of a verdict. Evaluate again, or use another model for judging.",
  contradictory_verdict:
    "Say in the pass criteria which scores pass, set pass_score in the profile, or use another model for judging.",
  not_applicable: "Nothing is wrong: this evaluator leaves such samples out, for every model alike.",
  judge_context_exceeded: "Shorten the texts, or use a model with a longer context for judging.",
  judge_error: "Check the log of the judge’s model, then evaluate again.",
  no_such_taxonomy: "Name an existing error taxonomy in the profile.",
  invalid_profile: "Create a revision of the profile that this version of the evaluator accepts.",
};

const otherwise = "Evaluate again. If this persists, contact your administrator.";

/** Explains an error message of the form `code: sentence`. */
export function explainFailure(errorMessage: string | null): Failure {
  const match = /^([a-z_]+): ([\s\S]*)$/.exec(errorMessage ?? "");
  const code = match?.[1] ?? "unknown";
  const message = match?.[2] ?? errorMessage ?? "The evaluation failed.";
  return { code, message, advice: advices[code] ?? otherwise };
}
