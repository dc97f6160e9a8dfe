import type { Config } from "../../config/config.ts";
import { printable } from "../../printable.ts";
import { CommandError } from "../command-error.ts";
import { findByName, type TargetOptions, withDatasets } from "./dataset-target.ts";

/** Deletes a dataset with all its revisions. */
export async function deleteDataset(config: Config, nameOrId: string, options: TargetOptions): Promise<void> {
  await withDatasets(config, options, async (target) => {
    const dataset = await findByName(target, nameOrId);
    if (dataset === undefined) throw new CommandError(`There is no dataset ${nameOrId}.`);
    await target.delete(dataset.id);
    process.stdout.write(`Deleted ${printable(dataset.name)}.\n`);
  });
}
