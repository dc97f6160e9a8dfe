import type { Dataset } from "@presage/contract";
import type { Config } from "../config/config.ts";
import { printable } from "../platform/words.ts";
import { type PlaceOptions, withPlace } from "./place.ts";
import { printList } from "./print-list.ts";
import type { Column } from "./text-table.ts";

/** Prints the datasets, newest first. */
export async function showDatasets(
  config: Config,
  { json, ...options }: PlaceOptions & { json?: boolean },
): Promise<void> {
  await withPlace(config, options, async ({ datasets }) => {
    printList(await datasets.list(), { columns, json: json ? (dataset) => dataset : undefined });
  });
}

const columns: readonly Column<Dataset>[] = [
  { heading: "NAME", text: ({ name }) => printable(name), canWrap: true },
  {
    heading: "REVISION",
    text: ({ latest_revision }) => String(latest_revision?.revision ?? "none"),
    align: "right",
  },
  {
    heading: "SAMPLES",
    text: ({ latest_revision }) => String(latest_revision?.samples ?? 0),
    align: "right",
  },
  {
    heading: "TRAJECTORIES",
    text: ({ latest_revision }) => String(latest_revision?.trajectories ?? 0),
    align: "right",
  },
  { heading: "ID", text: ({ id }) => id },
];
