import type { StoredPrediction } from "@presage/sdk";
import { failureLabels } from "../../format/usage-labels.ts";

export const sourceLabels: Record<StoredPrediction["source"], string> = {
  live: "Live traffic",
  run: "Run",
  episode: "Episode",
};

export const statusLabels: Record<StoredPrediction["status"], string> = {
  success: "Succeeded",
  failed: "Failed",
};

/** Why a prediction failed, in words. */
export function categoryLabel(category: StoredPrediction["error_category"]): string {
  if (category === null) return "Failed";
  if (category === "missing") return "Not made or uploaded";
  if (category === "error") return "Failed elsewhere";
  if (category === "skipped") return "Skipped: too long";
  if (category === "not_reached") return "Its trajectory had ended";
  return failureLabels[category];
}
