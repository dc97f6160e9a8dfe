import type { Config } from "../../config/config.ts";
import { printable } from "../../printable.ts";
import { findByName, type PlaceOptions, withRuns } from "./places/run-place.ts";

/** Ends a run; what it has done stays. */
export async function cancelRunCommand(
  config: Config,
  nameOrId: string,
  options: PlaceOptions,
): Promise<void> {
  await withRuns(config, options, async (place) => {
    const { id, name } = await findByName(place, nameOrId);
    await place.cancel(id);
    process.stdout.write(`Cancelled ${printable(name)}.\n`);
  });
}
