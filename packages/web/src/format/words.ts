import { defaultProfileName } from "@presage/contract/defaults";
import type { EpisodeSummary, UsageOperation } from "@presage/sdk";
import { formatCount } from "./numbers.ts";

export { describeTarget } from "@presage/contract/describe-runs";

/** “ignore_case” becomes “Ignore case”, “evaluated_model_gold_answer” becomes “Gold answer”. */
export function humanizeName(name: string): string {
  const words = name.replace(/^evaluated_model_/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** `exact-match-2026-11-21` is version `2026-11-21` of `exact-match-`. Imported evaluators have no version. */
export function splitVersion(evaluatorId: string): { family: string; version: string } {
  const start = evaluatorId.search(/\d{4}-\d{2}-\d{2}$/);
  return start < 1
    ? { family: evaluatorId, version: "" }
    : { family: evaluatorId.slice(0, start), version: evaluatorId.slice(start) };
}

/** Returns a function from ids to names, which omit the date unless two versions of an evaluator are in use. */
export function shortEvaluatorNames(idsInUse: Iterable<string>): (id: string) => string {
  const versions = Map.groupBy(new Set(idsInUse), (id) => splitVersion(id).family);
  return (id) => {
    const { family, version } = splitVersion(id);
    const isAmbiguous = version !== "" && new Set([...(versions.get(family) ?? []), id]).size > 1;
    return isAmbiguous ? id : family.replace(version === "" ? /$^/ : /-$/, "");
  };
}

/** Which predictions are stored under a setting, for the middle of a sentence: “none”, “those that fail”, “all”, “1 in 100”. */
export function describeCapture(setting: string): string {
  if (setting === "off") return "none";
  if (setting === "failures") return "those that fail";
  const share = setting === "all" ? 1 : Number(setting);
  if (share === 0) return "none";
  if (share === 1) return "all";
  const every = 1 / share;
  const isEven = Math.abs(every - Math.round(every)) < 1e-6;
  return isEven ? `1 in ${formatCount(Math.round(every))}` : `${Number((share * 100).toFixed(4))}\u00a0%`;
}

/** Labels of the operations that requests asked for. */
export const operationLabels: Record<UsageOperation, string> = {
  predict: "Requests for predictions",
  chat: "Chat completions",
  evaluate: "Evaluations",
  judge: "Calls to judges",
  run: "Predictions of runs",
};

/** How pages name an episode's task. */
export function taskNameOf({ split, index }: Pick<EpisodeSummary, "split" | "index">): string {
  return index === null ? `${split}, a task of its own` : `${split} ${index}`;
}

/** The name of an evaluator, where its version does not matter. */
export const withoutVersion = shortEvaluatorNames([]);

/** The name of something built in, without its prefix: “system:default” is “default”. */
export function plainName(name: string): string {
  return name.replace(/^system:/, "");
}

/** “exact-match”, or “exact-match, loose” with a profile other than the default one. */
export function shortEvaluatorName(of: { evaluator: string; profile_name: string | null }): string {
  const { evaluator, profile_name: profile } = of;
  const isDefault = profile === null || profile === defaultProfileName;
  return `${withoutVersion(evaluator)}${isDefault ? "" : `, ${plainName(profile)}`}`;
}
