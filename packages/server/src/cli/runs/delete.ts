import type { Config } from "../../config/config.ts";
import { printable } from "../../printable.ts";
import { findByName, type PlaceOptions, withRuns } from "./places/run-place.ts";

/** Deletes a run with its predictions and verdicts. */
export async function deleteRunCommand(
  config: Config,
  nameOrId: string,
  options: PlaceOptions,
): Promise<void> {
  await withRuns(config, options, async (place) => {
    const { id, name } = await findByName(place, nameOrId);
    await place.delete(id);
    process.stdout.write(`Deleted ${printable(name)}.\n`);
  });
}
