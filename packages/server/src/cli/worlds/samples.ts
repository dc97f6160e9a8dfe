import type { DatasetSample, World, WorldPreviewRequest } from "@presage/contract";
import { CommandError } from "../command.ts";
import { type Connection, getDataset } from "../connect.ts";

/** Which revision of a dataset, by its name or id; the latest if no number is given. */
interface WantedSamples {
  dataset: string;
  revision?: number | undefined;
}

/** A revision's lines, as they are stored. */
export async function* linesOf(
  connection: Connection,
  { dataset, revision }: WantedSamples,
): AsyncGenerator<string> {
  const { id } = await getDataset(connection, dataset);
  yield* await connection.call(async ({ datasets }) => datasets.exportLines(id, { revision }));
}

/** The first samples of a revision that `isWanted` accepts. */
export async function samplesOf(
  connection: Connection,
  wanted: WantedSamples,
  { most, isWanted = () => true }: { most: number; isWanted?: (sample: DatasetSample) => boolean },
): Promise<DatasetSample[]> {
  const found: DatasetSample[] = [];
  for await (const line of linesOf(connection, wanted)) {
    const sample = readLine(line);
    if (isWanted(sample)) found.push(sample);
    if (found.length === most) break;
  }
  return found;
}

function readLine(line: string): DatasetSample {
  // The server wrote this line.
  const sample = JSON.parse(line) as DatasetSample;
  return {
    ...sample,
    dataset_sample_id: sample.dataset_sample_id ?? `${sample.trajectory_id}/${sample.step}`,
  };
}

/** How many first steps are searched for one to begin with. */
const mostStarts = 1_000;

/** The sample with this id, or the first step of some trajectory, preferably one with the tag `split=test`. */
export async function findStart(
  connection: Connection,
  wanted: WantedSamples,
  id: string | undefined,
): Promise<DatasetSample> {
  if (id !== undefined) {
    const isWanted = (sample: DatasetSample) => sample.dataset_sample_id === id;
    const [sample] = await samplesOf(connection, wanted, { most: 1, isWanted });
    if (sample !== undefined) return sample;
    throw new CommandError(`The world's dataset has no sample ${id}.`);
  }
  const seen = new Set<string>();
  const starts = await samplesOf(connection, wanted, {
    most: mostStarts,
    isWanted({ trajectory_id }) {
      const isFirst = !seen.has(trajectory_id);
      seen.add(trajectory_id);
      return isFirst;
    },
  });
  const testing = starts.filter(({ tags }) => tags?.split === "test");
  const [from = []] = [testing, starts].filter(({ length }) => length > 0);
  const start = from[Math.floor(Math.random() * from.length)];
  if (start === undefined) throw new CommandError("The world's dataset has no samples.");
  return start;
}

/** What a recorded step may not use as examples: its own trajectory, and the same value of the tag that the world excludes by. */
export function withoutOwn(
  { config }: Pick<World, "config">,
  { trajectory_id: id, tags }: { trajectory_id?: unknown; tags?: unknown },
): NonNullable<WorldPreviewRequest["exclude"]> {
  const by = config.retrieval?.exclude_by;
  const tag = by?.startsWith("tag:") ? by.slice("tag:".length) : undefined;
  const isTagged = tag !== undefined && typeof tags === "object" && tags !== null && Object.hasOwn(tags, tag);
  const value: unknown = isTagged ? (tags as Record<string, unknown>)[tag] : undefined;
  return {
    ...(typeof id === "string" && { trajectory_ids: [id] }),
    ...(isTagged && typeof value === "string" && { tags: { [tag]: value } }),
  };
}
