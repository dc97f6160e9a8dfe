import type { Dataset, DatasetFormat, DatasetRevision } from "@presage/contract";
import { findDataset, type Place } from "./place.ts";
import { printNotice } from "./print-notice.ts";

/** Uploads a file's lines as a revision of the dataset of this name, which is created if there is none. */
export async function uploadFile(
  place: Pick<Place, "datasets">,
  name: string,
  { path, format }: { path: string; format: DatasetFormat | undefined },
): Promise<{ dataset: Dataset; revision: DatasetRevision }> {
  const isGzip = await startsLikeGzip(path);
  const dataset = (await findDataset(place, name)) ?? (await place.datasets.create(name));
  const revision = await place.datasets.upload(dataset.id, { path, format, isGzip });
  for (const warning of revision.warnings ?? []) printNotice(warning);
  return { dataset, revision };
}

export async function startsLikeGzip(path: string): Promise<boolean> {
  const [first, second] = await Bun.file(path).slice(0, 2).bytes();
  return first === 0x1f && second === 0x8b;
}
