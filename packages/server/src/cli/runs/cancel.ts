import type { Config } from "../../config/config.ts";
import { printable } from "../../printable.ts";
import { findRun, type PlaceOptions, withPlace } from "../places/place.ts";

/** Ends a run; what it has done stays. */
export async function cancelRunCommand(
  config: Config,
  nameOrId: string,
  options: PlaceOptions,
): Promise<void> {
  await withPlace(config, options, async (place) => {
    const { id, name } = await findRun(place, nameOrId);
    await place.runs.cancel(id);
    process.stdout.write(`Cancelled ${printable(name)}.\n`);
  });
}
