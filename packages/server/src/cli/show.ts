import type { DatasetRevision } from "@presage/contract";
import type { Config } from "../config/config.ts";
import { printable, printableJson } from "../platform/words.ts";
import { CommandError } from "./command-error.ts";
import { findDataset, type PlaceOptions, withPlace } from "./place.ts";
import { printList } from "./print-list.ts";
import type { Column } from "./text-table.ts";

/** Prints a dataset and its revisions. */
export async function showDataset(
  config: Config,
  nameOrId: string,
  { json, ...options }: PlaceOptions & { json?: boolean },
): Promise<void> {
  await withPlace(config, options, async (place) => {
    const dataset = await findDataset(place, nameOrId);
    if (dataset === undefined) throw new CommandError(`There is no dataset ${nameOrId}.`);
    const revisions = await place.datasets.listRevisions(dataset.id);
    if (json) {
      process.stdout.write(`${printableJson({ ...dataset, revisions })}\n`);
      return;
    }
    const { name, id, description } = dataset;
    process.stdout.write(`${printable(name)}\n${id}\n`);
    if (description !== null) process.stdout.write(`${printable(description)}\n`);
    process.stdout.write("\n");
    printList(revisions, { columns, json: undefined });
  });
}

const columns: readonly Column<DatasetRevision>[] = [
  { heading: "REVISION", text: ({ revision }) => String(revision), align: "right" },
  { heading: "SAMPLES", text: ({ samples }) => String(samples), align: "right" },
  { heading: "TRAJECTORIES", text: ({ trajectories }) => String(trajectories), align: "right" },
  { heading: "BYTES", text: ({ bytes }) => String(bytes), align: "right" },
  { heading: "CREATED", text: ({ created_at }) => created_at.slice(0, "2026-01-31".length) },
  { heading: "SHA-256", text: ({ digest }) => digest.slice(0, 12) },
];
