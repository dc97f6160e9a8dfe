import type { Run } from "@presage/contract";
import { describeFailures } from "@presage/contract/describe-runs";
import type { Config } from "../config/config.ts";
import { countOf, printable, printableJson } from "../platform/words.ts";
import { findRun, type PlaceOptions, withPlace } from "./place.ts";
import { printReport } from "./report-table.ts";
import { targetName } from "./runs-list.ts";

/** Prints a run and its figures so far. */
export async function showRun(
  config: Config,
  nameOrId: string,
  { json, ...options }: PlaceOptions & { json?: boolean },
): Promise<void> {
  await withPlace(config, options, async (place) => {
    const run = await findRun(place, nameOrId);
    if (json) {
      process.stdout.write(`${printableJson(run)}\n`);
      return;
    }
    const lines = describe(run);
    process.stdout.write(`${lines.map(printable).join("\n")}\n\n`);
    // A client's run has results, and no figures of its own.
    if (run.dataset_id !== null) printReport(await place.runs.report(run.id));
  });
}

function describe(run: Run): string[] {
  const { name, id, status, status_reason: reason, progress, target, mode, repeats, params } = run;
  const { evaluated, samples } = progress;
  return [
    name,
    id,
    `${status}${reason === null ? "" : `: ${reason}`}; ${evaluated} of ${countOf(samples, "prediction")}`,
    ...describeFailures(progress),
    `${targetName(target)}; ${mode}; ${countOf(repeats, "repeat")}`,
    ...(run.dataset_id === null ? [] : [`dataset ${run.dataset_id}, revision ${run.revision}`]),
    ...(params === null ? [] : [`params ${JSON.stringify(params)}`]),
  ];
}
