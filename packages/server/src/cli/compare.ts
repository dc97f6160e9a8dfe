import type { Config } from "../config/config.ts";
import { printableJson } from "../platform/words.ts";
import { CommandError } from "./command-error.ts";
import { printComparison } from "./comparison-table.ts";
import { findRun, type PlaceOptions, withPlace } from "./place.ts";

/** Prints how runs differ from the first one. */
export async function compareCommand(
  config: Config,
  names: readonly string[],
  { json, ...options }: PlaceOptions & { json?: boolean },
): Promise<void> {
  if (names.length < 2) throw new CommandError("compare needs two or more runs");
  await withPlace(config, options, async (place) => {
    const ids: string[] = [];
    for (const name of names) ids.push((await findRun(place, name)).id);
    const comparison = await place.runs.compare(ids);
    if (json) process.stdout.write(`${printableJson(comparison)}\n`);
    else printComparison(comparison);
  });
}
