import type { Config } from "../config/config.ts";
import { printable } from "../platform/words.ts";
import { CommandError } from "./command-error.ts";
import { findDataset, type PlaceOptions, withPlace } from "./place.ts";

/** Deletes a dataset with all its revisions. */
export async function deleteDataset(config: Config, nameOrId: string, options: PlaceOptions): Promise<void> {
  await withPlace(config, options, async (place) => {
    const dataset = await findDataset(place, nameOrId);
    if (dataset === undefined) throw new CommandError(`There is no dataset ${nameOrId}.`);
    await place.datasets.delete(dataset.id);
    process.stdout.write(`Deleted ${printable(dataset.name)}.\n`);
  });
}
