import type { Config } from "../config/config.ts";
import { printable } from "../platform/words.ts";
import { findRun, type PlaceOptions, withPlace } from "./place.ts";

const done = { cancel: "Cancelled", resume: "Resumed", finish: "Finished without what is missing:" };

/** Ends a run, or lets a paused one go on; what it has done stays. */
export async function changeRunCommand(
  config: Config,
  change: keyof typeof done,
  nameOrId: string,
  options: PlaceOptions,
): Promise<void> {
  await withPlace(config, options, async (place) => {
    const { id, name } = await findRun(place, nameOrId);
    await place.runs[change](id);
    process.stdout.write(`${done[change]} ${printable(name)}.\n`);
  });
}
