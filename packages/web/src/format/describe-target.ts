import type { Run } from "@presage/sdk";

/** What predicts in a run: “default, model-7b”, “no-change”, “imported predictions”. */
export function describeTarget(target: Run["target"]): string {
  if ("deployment" in target)
    return target.model ? `${target.deployment}, ${target.model}` : target.deployment;
  if ("baseline" in target) return target.baseline;
  return "predictions" in target ? "imported predictions" : "external";
}
