import { contextFields } from "@presage/contract/compose-prompt";
import { defaultProfileName } from "@presage/contract/defaults";
import type { EnvironmentConfig, EpisodeStop } from "@presage/sdk";
import { formatCount } from "../../../format/numbers.ts";
import { type StopKind, stopKinds } from "../../../parts/episodes.tsx";
import { parseJsonObject } from "../../../ui/form/form.tsx";

/** A rule that ends an episode, as it is edited. */
export interface StopDraft {
  kind: StopKind;
  text: string;
  outcome: "success" | "failure";
}

export const newEnvironmentDraft = {
  name: "",
  description: "",
  /** Empty: the default deployment, or the world. */
  deployment: "",
  /** Predicts in place of a deployment. Shown, but not editable. */
  world: "",
  prompt_form: "state-action",
  max_steps: "30",
  /** JSON: `StopDraft[]`. */
  stop: JSON.stringify([{ kind: "output_contains", text: "{goal}", outcome: "success" }]),
  repeat_limit: "",
  unchanged_limit: "",
  /** `FAMILY/PROFILE`; empty: none. */
  reward: "",
  when: "last",
  /** As JSON. */
  params: "",
  /** The name of the real environment; empty: none. */
  real: "",
  share: "",
  false_success_limit: "",
  on_alarm: "warn",
  environment_state: "",
  task_context: "",
  tool_schemas: "",
  domain_knowledge: "",
  steering_directives: "",
};
export type EnvironmentDraft = typeof newEnvironmentDraft;

/** The form of an environment's definition. */
export function toDraft(name: string, config: EnvironmentConfig): EnvironmentDraft {
  const { context, guards, real, reward, params } = config;
  return {
    name,
    description: config.description ?? "",
    deployment: config.deployment ?? "",
    world: config.world ?? "",
    prompt_form: config.prompt_form ?? "state-action",
    max_steps: String(config.max_steps ?? newEnvironmentDraft.max_steps),
    stop: JSON.stringify((config.stop ?? []).map(toStopDraft)),
    repeat_limit: String(guards?.repeat_limit ?? ""),
    unchanged_limit: String(guards?.unchanged_limit ?? ""),
    reward: reward ? `${reward.evaluator}/${reward.profile_name ?? defaultProfileName}` : "",
    when: reward?.when ?? "last",
    params: params && Object.keys(params).length > 0 ? JSON.stringify(params, null, 2) : "",
    real: real?.name ?? "",
    share: percentOf(real?.share),
    false_success_limit: percentOf(real?.false_success_limit),
    on_alarm: real?.on_alarm ?? "warn",
    environment_state: context?.environment_state ?? "",
    task_context: context?.task_context ?? "",
    tool_schemas: context?.tool_schemas ?? "",
    domain_knowledge: context?.domain_knowledge ?? "",
    steering_directives: context?.steering_directives ?? "",
  };
}

function percentOf(share: number | null | undefined): string {
  return share ? String(+(100 * share).toPrecision(12)) : "";
}

export function toStopDraft(rule: EpisodeStop): StopDraft {
  const fields: Record<string, string> = rule;
  const kind = stopKinds.find((one) => fields[one] !== undefined) ?? "output_contains";
  return { kind, text: fields[kind] ?? "", outcome: rule.outcome };
}

export function readStops(text: string): StopDraft[] {
  return JSON.parse(text) as StopDraft[];
}

export interface ReadEnvironmentDraft {
  /** Empty fields are null, which removes the setting. */
  config: EnvironmentConfig;
  /** Issues by field. */
  issues: Partial<Record<keyof EnvironmentDraft, string>>;
}

const mostSteps = 1_000;

/** The definition that a form stands for, and the issues of its fields. */
export function readEnvironmentDraft(draft: EnvironmentDraft): ReadEnvironmentDraft {
  const issues: ReadEnvironmentDraft["issues"] = {};
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(draft.name.trim()))
    issues.name = "1 to 63 lower-case letters, digits and hyphens; the first is no hyphen.";
  const stops = readStops(draft.stop);
  if (stops.some(({ text }) => text === "")) issues.stop = "Each rule needs a text; remove those without.";
  const limit = (field: "max_steps" | "repeat_limit" | "unchanged_limit") => {
    const text = draft[field].trim();
    if (text === "") return null;
    const value = Number(text);
    if (Number.isInteger(value) && value >= 1 && value <= mostSteps) return value;
    issues[field] = `A whole number from 1 to ${formatCount(mostSteps)}.`;
    return null;
  };
  const [maxSteps, repeats, unchanged] = [
    limit("max_steps"),
    limit("repeat_limit"),
    limit("unchanged_limit"),
  ];
  const share = (field: "share" | "false_success_limit") => {
    const text = draft[field].trim();
    const value = Number(text) / 100;
    if (text === "") return null;
    if (value > 0 && (field === "share" ? value <= 1 : value < 1)) return value;
    issues[field] = `A percentage above 0${field === "share" ? "" : " and below 100"}.`;
    return null;
  };
  const real = {
    name: draft.real.trim(),
    share: share("share"),
    false_success_limit: share("false_success_limit"),
    on_alarm: draft.on_alarm === "refuse" ? ("refuse" as const) : ("warn" as const),
  };
  const params = draft.params.trim() === "" ? undefined : parseJsonObject(draft.params);
  if (params !== undefined && "issue" in params) issues.params = params.issue;
  const context = Object.fromEntries(
    contextFields.flatMap((field) => (draft[field] === "" ? [] : [[field, draft[field]]])),
  );
  const [evaluator = "", ...profile] = draft.reward.split("/");
  return {
    issues,
    config: {
      description: draft.description.trim() || null,
      deployment: draft.deployment || null,
      prompt_form: draft.prompt_form === "chat" ? "chat" : "state-action",
      max_steps: maxSteps,
      stop:
        stops.length === 0
          ? null
          : stops.map(({ kind, text, outcome }) => ({ [kind]: text, outcome }) as EpisodeStop),
      guards:
        repeats === null && unchanged === null
          ? null
          : {
              ...(repeats !== null && { repeat_limit: repeats }),
              ...(unchanged !== null && { unchanged_limit: unchanged }),
            },
      reward:
        draft.reward === ""
          ? null
          : {
              evaluator,
              profile_name: profile.join("/"),
              when: draft.when === "every-step" ? "every-step" : "last",
            },
      params:
        params !== undefined && "value" in params ? (params.value as EnvironmentConfig["params"]) : null,
      real: real.name === "" ? null : real,
      context: Object.keys(context).length === 0 ? null : context,
    },
  };
}
