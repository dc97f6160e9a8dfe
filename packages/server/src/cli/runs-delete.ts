import type { Config } from "../config/config.ts";
import { printable } from "../platform/words.ts";
import { findRun, type PlaceOptions, withPlace } from "./place.ts";

/** Deletes a run with its predictions and verdicts. */
export async function deleteRunCommand(
  config: Config,
  nameOrId: string,
  options: PlaceOptions,
): Promise<void> {
  await withPlace(config, options, async (place) => {
    const { id, name } = await findRun(place, nameOrId);
    await place.runs.delete(id);
    process.stdout.write(`Deleted ${printable(name)}.\n`);
  });
}
