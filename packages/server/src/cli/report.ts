import { writeFile } from "node:fs/promises";
import type { Config } from "../config/config.ts";
import { checkOutputFile } from "./file-options.ts";
import { findRun, type PlaceOptions, withPlace } from "./place.ts";

interface ReportOptions extends PlaceOptions {
  format: "html" | "md" | "json";
  out?: string;
}

/** Writes a run's report into a file, or to standard output. */
export async function reportCommand(
  config: Config,
  nameOrId: string,
  { format, out, ...options }: ReportOptions,
): Promise<void> {
  if (out !== undefined) checkOutputFile(out);
  await withPlace(config, options, async (place) => {
    const { id } = await findRun(place, nameOrId);
    const text =
      format === "json"
        ? `${JSON.stringify(await place.runs.report(id), undefined, 2)}\n`
        : await place.runs.reportAs(id, format);
    if (out === undefined) process.stdout.write(text);
    else await writeFile(out, text);
  });
}
