import { describeTarget } from "@presage/contract/describe-runs";
import type { Dataset, RunCreateRequest, RunTarget } from "@presage/sdk";

export const noDraft = {
  name: "",
  dataset: "",
  revision: "",
  /** The kind of predictor: `deployment`, `world`, `no-change`, `most-frequent` or `retrieval`. */
  kind: "deployment",
  deployment: "",
  /** NAME@NUMBER */
  world: "",
  model: "",
  mode: "teacher-forced",
  /** `pilot` or `all`; empty: a pilot if the dataset is long. */
  scope: "",
  /** The public ids of profiles, separated by commas. */
  profiles: "",
  repeats: "1",
  concurrency: "16",
  temperature: "",
  seed: "",
  max_tokens: "",
  /** The environment whose rules determine when an episode ends. */
  ends: "",
};
export type RunDraft = typeof noDraft;

interface ChosenProfile {
  public_id: string;
  evaluator_family: string;
  name: string;
}

export interface ReadRunDraft {
  request: RunCreateRequest | undefined;
  /** Issues by field. */
  issues: Partial<Record<keyof RunDraft, string>>;
}

/** The number of samples that a pilot predicts. */
export const pilotSamples = 50;
/** For datasets with more samples, a pilot is the default. */
const longDataset = 200;

/** Whether only some samples of a dataset are predicted at first; `samples` is the dataset's size. */
export function isPilot({ scope }: Pick<RunDraft, "scope">, samples: number): boolean {
  if (samples <= pilotSamples) return false;
  return scope === "" ? samples > longDataset : scope === "pilot";
}

/** Larger datasets are not preselected: sending so much should be a deliberate choice. */
const mostPreselected = 1_000;

/** The newest dataset with samples, unless a run on it would send many requests. */
export function preselectedDataset(datasets: readonly Pick<Dataset, "id" | "latest_revision">[]): string {
  const newest = datasets.find(({ latest_revision }) => latest_revision !== null);
  return (newest?.latest_revision?.samples ?? 0) <= mostPreselected ? (newest?.id ?? "") : "";
}

const mostNameCharacters = 200;

/** The default name of a run. Runs of the same kind get the same name, as runs with one name share a goal. */
export function suggestName(draft: RunDraft, dataset: string | undefined): string {
  const target = describeTarget(targetOf(draft));
  if (dataset === undefined || target === "") return "";
  const mode = draft.mode === "free-running" ? ", free-running" : "";
  return `${target} on ${dataset}${mode}`.slice(0, mostNameCharacters);
}

const limits = { repeats: 20, concurrency: 256 };

/** The request that a form stands for, or the issues of its fields. */
export function readRunDraft(
  draft: RunDraft,
  profiles: readonly ChosenProfile[],
  samples: number,
  suggestedName = "",
): ReadRunDraft {
  const issues: ReadRunDraft["issues"] = {};
  const chosen = draft.profiles.split(",").filter(Boolean);
  const evaluators = chosen.flatMap((id) => {
    const profile = profiles.find(({ public_id }) => public_id === id);
    return profile === undefined ? [] : [{ evaluator: profile.evaluator_family, profile_name: profile.name }];
  });
  if (draft.dataset === "") issues.dataset = "Choose a dataset.";
  if (draft.kind === "deployment" && draft.deployment === "") issues.deployment = "Choose a deployment.";
  if (draft.kind === "world" && draft.world === "") issues.world = "Choose a world.";
  if (evaluators.length === 0) issues.profiles = "Choose at least one.";
  const repeats = readWhole(draft.repeats, limits.repeats);
  const concurrency = readWhole(draft.concurrency, limits.concurrency);
  if (repeats === undefined) issues.repeats = `A whole number from 1 to ${limits.repeats}.`;
  if (concurrency === undefined) issues.concurrency = `A whole number from 1 to ${limits.concurrency}.`;
  const params = readParams(draft, issues);
  if (Object.keys(issues).length > 0) return { request: undefined, issues };
  return {
    issues,
    request: {
      ...((draft.name.trim() || suggestedName) !== "" && { name: draft.name.trim() || suggestedName }),
      dataset_id: draft.dataset,
      ...(draft.revision !== "" && { revision: Number(draft.revision) }),
      target: targetOf(draft),
      ...(Object.keys(params).length > 0 && { params }),
      mode: draft.mode === "free-running" ? "free-running" : "teacher-forced",
      ...(isPilot(draft, samples) && { limit: pilotSamples }),
      evaluators,
      ...(draft.ends !== "" && { ends: { environment: draft.ends } }),
      ...(repeats !== undefined && { repeats }),
      ...(concurrency !== undefined && { concurrency }),
    },
  };
}

function targetOf({ kind, deployment, world, model }: RunDraft): RunTarget {
  if (kind === "world") return { world };
  if (kind === "no-change" || kind === "most-frequent" || kind === "retrieval") return { baseline: kind };
  return { deployment, ...(model.trim() !== "" && { model: model.trim() }) };
}

function readParams({ kind, ...draft }: RunDraft, issues: ReadRunDraft["issues"]): Record<string, number> {
  if (kind !== "deployment") return {};
  const rules = {
    temperature: { isFine: (value: number) => value >= 0, issue: "A number of at least 0." },
    seed: { isFine: Number.isSafeInteger, issue: "A whole number." },
    max_tokens: {
      isFine: (value: number) => Number.isSafeInteger(value) && value > 0,
      issue: "A whole number of at least 1.",
    },
  };
  const params: Record<string, number> = {};
  for (const name of ["temperature", "seed", "max_tokens"] as const) {
    const text = draft[name].trim();
    if (text === "") continue;
    if (rules[name].isFine(Number(text))) params[name] = Number(text);
    else issues[name] = rules[name].issue;
  }
  return params;
}

function readWhole(text: string, most: number): number | undefined {
  const value = Number(text);
  return text.trim() !== "" && Number.isInteger(value) && value >= 1 && value <= most ? value : undefined;
}
