import type { Run } from "@presage/contract";
import type { Config } from "../config/config.ts";
import { printable } from "../platform/words.ts";
import { type PlaceOptions, withPlace } from "./place.ts";
import { printList } from "./print-list.ts";
import type { Column } from "./text-table.ts";

/** Prints the runs, newest first. */
export async function showRuns(
  config: Config,
  { json, ...options }: PlaceOptions & { json?: boolean },
): Promise<void> {
  await withPlace(config, options, async ({ runs }) => {
    printList(await runs.list(), { columns, json: json ? (run) => run : undefined });
  });
}

const columns: readonly Column<Run>[] = [
  { heading: "NAME", text: ({ name }) => printable(name), canWrap: true },
  { heading: "STATUS", text: ({ status }) => status },
  { heading: "DONE", text: ({ progress }) => `${progress.evaluated}/${progress.samples}`, align: "right" },
  { heading: "ID", text: ({ id }) => id },
  { heading: "TARGET", text: ({ target }) => printable(targetName(target)), canWrap: true },
  { heading: "CREATED", text: ({ created_at }) => created_at.slice(0, "2026-01-31".length) },
];

/** What predicts, in words. */
export function targetName(target: Run["target"]): string {
  if ("deployment" in target) return [target.deployment, target.model].filter(Boolean).join(", ");
  if ("baseline" in target) return target.baseline;
  return "predictions" in target ? "imported predictions" : "a client";
}
