import type { DatasetFormat } from "@presage/contract";
import type { Config } from "../../config.ts";
import { countOf } from "../../count-of.ts";
import { printable } from "../../printable.ts";
import { checkFiles } from "../files/file-options.ts";
import { findByName, type TargetOptions, withDatasets } from "./dataset-target.ts";

interface ImportOptions extends TargetOptions {
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
  const isGzip = await startsLikeGzip(file);
  await withDatasets(config, options, async (target) => {
    const dataset = (await findByName(target, name)) ?? (await target.create(name));
    const { revision, samples, trajectories, digest } = await target.upload(dataset.id, {
      path: file,
      format,
      isGzip,
    });
    process.stdout.write(
      `Revision ${revision} of ${printable(dataset.name)}: ${countOf(samples, "sample")} in ${trajectories} ${trajectories === 1 ? "trajectory" : "trajectories"}.\nDataset ${dataset.id}, SHA-256 ${digest}\n`,
    );
  });
}

async function startsLikeGzip(path: string): Promise<boolean> {
  const [first, second] = await Bun.file(path).slice(0, 2).bytes();
  return first === 0x1f && second === 0x8b;
}
