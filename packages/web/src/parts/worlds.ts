// Descriptions of a world's parts in words.
import { defaultProfileName, worldDefaults } from "@presage/contract/defaults";
import type { Params, Prediction, World, WorldConfig } from "@presage/sdk";
import { counted, formatCount, formatFields, formatScore, formatShare } from "../format/numbers.ts";
import { humanizeName } from "../format/words.ts";

/** Whether the world answers from its records, without a model. */
export function isOfRecords({ model }: WorldConfig): boolean {
  return model != null && "kind" in model;
}

/** The sampling parameters that a world uses where a request has none. */
export function paramsOf({ model }: WorldConfig): Params {
  return { temperature: 0, ...(model && "params" in model && model.params) };
}

/** What gives the answers: a deployment, or the records alone. */
export function answererOf({ model }: WorldConfig): string {
  if (model && "kind" in model)
    return model.answer === "nearest" ? "the nearest record" : "the records alone";
  return `${model?.deployment ?? "the default deployment"}${model?.fallback ? ", else the records" : ""}`;
}

/** How sure an answer is, and what follows from that; undefined if the answer has no score. */
export function sayHowSure({
  explain,
  confidence = null,
  abstained,
}: Pick<Prediction, "confidence" | "abstained"> & {
  explain?: Pick<NonNullable<Prediction["explain"]>, "score"> | undefined;
}): string | undefined {
  if (explain === undefined || explain.score === null) return undefined;
  if (confidence === null)
    return `Score ${formatScore(explain.score)}: it is no confidence until the world is calibrated.`;
  return `Confidence ${formatShare(confidence)}${abstained ? ", below what the world needs: it abstains" : ""}.`;
}

/** How an environment or a world rewards a step. */
export function describeReward({
  evaluator,
  profile_name,
  when,
}: NonNullable<WorldConfig["reward"]>): string {
  const steps = when === "last" ? "the last step" : "every step";
  return `The score of ${evaluator} (${profile_name ?? defaultProfileName}) on ${steps}`;
}

function describeParams(params: Params): string {
  return Object.entries(params)
    .map(([name, value]) => `${name} ${typeof value === "number" ? value : JSON.stringify(value)}`)
    .join(", ");
}

/** Each of a world's settings, by name. */
export function worldFacts({ config, pinned }: Pick<World, "config" | "pinned">): Map<string, string> {
  const { examples, retrieval, history, confidence, reward } = config;
  const { calibration } = pinned;
  const made = pinned.examples;
  const only = Object.entries({ ...examples?.tags, ...(examples?.split && { split: examples.split }) });
  const filters = only.map(([name, value]) => `${name} = ${value}`);
  const least = confidence?.min_confidence;
  const most = examples?.max_per_trajectory;
  const excluded = retrieval?.exclude_by?.replace(/^tag:/, "");
  const facts: Record<string, string | false | null | undefined> = {
    "Answers by": answererOf(config),
    Parameters: !isOfRecords(config) && describeParams(paramsOf(config)),
    Dataset: made && `${made.dataset}, revision ${made.revision}`,
    Examples:
      made &&
      `${formatCount(made.count)} of ${counted(made.trajectories, "trajectory", "trajectories")}, with ${counted(made.actions, "distinct action")}`,
    Filter: [...filters, ...(examples?.exclude_errors ? ["no tool errors"] : [])].join(", "),
    "Of each trajectory": most != null && `the first ${formatCount(most)}`,
    "Dataset gone": made && (examples?.required === false ? "answers without examples" : "answers nothing"),
    "In a prompt":
      made &&
      `at most ${counted(retrieval?.k ?? worldDefaults.k, "example")} with ${counted(retrieval?.max_chars ?? worldDefaults.max_chars, "character")}`,
    "Where examples stand":
      made && (retrieval?.place === "system" ? "in the system turn" : "as turns before the step"),
    Weights: made && formatFields(retrieval?.weights ?? worldDefaults.weights),
    "Similar enough": retrieval?.min_similarity ? `from ${retrieval.min_similarity}` : null,
    "Left out":
      made &&
      (excluded === undefined || excluded === "trajectory"
        ? "a recorded step’s own trajectory"
        : `a recorded step’s own trajectory, and those with its ${excluded}`),
    Confidence:
      confidence &&
      `by ${confidence.methods.join(", ")}${least == null ? "" : `; below ${formatShare(least)} it is to ${confidence.below ?? "abstain"}`}`,
    "Answers compared": confidence?.methods.includes("agreement") && String(confidence.samples ?? 5),
    "Escalates to": confidence?.escalate_to,
    "Answers that abstain": confidence?.hide_abstained && "have no text",
    Calibration:
      calibration &&
      `passes of ${calibration.evaluator} in ${counted(calibration.samples, "sample")} of ${counted(calibration.trajectories, "trajectory", "trajectories")}`,
    "Calibrated on":
      confidence?.calibration &&
      `${confidence.calibration.dataset}${confidence.calibration.split ? `, its split ${confidence.calibration.split}` : ""}`,
    Reward: reward && describeReward(reward),
    "Earlier steps": `at most ${history?.steps ?? worldDefaults.history.steps} with ${counted(history?.max_chars ?? worldDefaults.history.max_chars, "character")}`,
  };
  const known = Object.entries(facts).map(([name, text]) => [name, text || ""] as const);
  return new Map(known.filter(([, text]) => text !== ""));
}

/** What a revision changed compared to the one before it. */
export function changesInWords(before: World, after: World): string[] {
  const [old, now] = [worldFacts(before), worldFacts(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])].filter(
    (name) => old.get(name) !== now.get(name),
  );
  const [oldTexts, texts] = [textsOf(before.config), textsOf(after.config)];
  const rewritten = Object.keys({ ...oldTexts, ...texts }).filter((name) => oldTexts[name] !== texts[name]);
  const verb = (name: string) =>
    oldTexts[name] === undefined ? "added" : texts[name] === undefined ? "removed" : "rewritten";
  return [
    ...names.map((name) => `${name}: ${old.get(name) ?? "none"} → ${now.get(name) ?? "none"}`),
    ...rewritten.map((name) => `${humanizeName(name)} ${verb(name)}`),
  ];
}

export function textsOf({ description, instructions, context }: WorldConfig): Record<string, string> {
  const texts: [string, unknown][] = Object.entries({ description, instructions, ...context });
  return Object.fromEntries(
    texts.flatMap(([name, text]) => (typeof text === "string" && text ? [[name, text]] : [])),
  );
}
