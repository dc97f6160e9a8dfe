import type { Dataset, DatasetFormat, DatasetRevision } from "@presage/contract";
import type { Config } from "../config/config.ts";
import { countOf, printable } from "../platform/words.ts";
import { checkFiles } from "./file-options.ts";
import { type PlaceOptions, withPlace } from "./place.ts";
import { uploadFile } from "./upload-file.ts";

interface ImportOptions extends PlaceOptions {
  name: string;
  file: string;
  format?: DatasetFormat;
}

/** Uploads a file's lines as a revision of the dataset of this name. */
export async function importDataset(
  config: Config,
  { name, file, format, ...options }: ImportOptions,
): Promise<void> {
  checkFiles(file, undefined);
  await withPlace(config, options, async (place) => {
    const { dataset, revision: uploaded } = await uploadFile(place, name, { path: file, format });
    describeRevision(dataset, uploaded);
  });
}

/** Says what a revision has. */
export function describeRevision(
  dataset: Pick<Dataset, "id" | "name">,
  { revision, samples, trajectories, digest }: DatasetRevision,
): void {
  process.stdout.write(
    `Revision ${revision} of ${printable(dataset.name)}: ${countOf(samples, "sample")} in ${trajectories} ${trajectories === 1 ? "trajectory" : "trajectories"}.\nDataset ${dataset.id}, SHA-256 ${digest}\n`,
  );
}
