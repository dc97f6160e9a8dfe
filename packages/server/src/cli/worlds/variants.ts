import { Readable } from "node:stream";
import type { DatasetSample, World, WorldConfig } from "@presage/contract";
import { PresageError } from "@presage/sdk";
import { ServiceError } from "../../platform/errors.ts";
import { printable } from "../../platform/words.ts";
import { CommandError } from "../command.ts";
import type { RunConnection } from "../open-connection.ts";
import { linesOf } from "./samples.ts";

/** What a run is made on. */
export interface Side {
  dataset_id: string;
  revision: number;
}

/** How the descriptions of what is made to measure a world begin. Nothing else is changed. */
const mark = "Made by presage worlds create --evaluate";

function notMade(kind: "dataset" | "world", name: string): CommandError {
  return new CommandError(
    `The ${kind} ${printable(name)} was not made by --evaluate, which needs its name: delete it, or give the new world another name or dataset.`,
  );
}

interface Wanted {
  name: string;
  /** What they are, for people. */
  what: string;
  isWanted: (sample: DatasetSample) => boolean;
}

/** Some samples of a revision, in a dataset of their own. */
export async function copySamples(
  connection: RunConnection,
  { dataset_id: dataset, revision }: Side,
  { name, what, isWanted }: Wanted,
): Promise<Side> {
  const { call } = connection;
  const description = `${mark}: ${what}.`;
  const known = (await call(({ datasets }) => datasets.list())).find((one) => one.name === name);
  if (known !== undefined && known.description !== description) throw notMade("dataset", name);
  const { id } = known ?? (await call(({ datasets }) => datasets.create({ name, description })));
  async function* lines(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const encoder = new TextEncoder();
    for await (const line of linesOf(connection, { dataset, revision }))
      if (isWanted(JSON.parse(line))) yield encoder.encode(`${line}\n`);
  }
  const stream = Readable.toWeb(Readable.from(lines())) as ReadableStream<Uint8Array>;
  const uploaded = await call(({ datasets }) => datasets.upload(id, stream, { format: "presage" }));
  return { dataset_id: id, revision: uploaded.revision };
}

interface Variant {
  suffix: string;
  /** What it is, for people. */
  what: string;
  changes: WorldConfig;
}

/** The same world with some changes, archived so that lists do not show it. It needs no confidence to answer. */
export async function varyWorld(
  { call }: RunConnection,
  { name, config, pinned }: World,
  { suffix, what, changes }: Variant,
): Promise<World> {
  const varied = `${name.slice(0, 63 - suffix.length)}${suffix}`;
  const description = `${mark}: ${what}.`;
  const { methods, samples } = config.confidence ?? {};
  const wanted: WorldConfig = {
    ...config,
    examples: config.examples && { ...config.examples, revision: pinned.examples?.revision },
    confidence: methods && { methods, samples },
    ...changes,
    description,
  };
  const known = await call(({ worlds }) => worlds.get(varied)).catch(unlessFound);
  if (known !== undefined && known.config.description !== description) throw notMade("world", varied);
  const world = await call(({ worlds }) =>
    known ? worlds.revise(varied, wanted) : worlds.create({ name: varied, ...wanted }),
  );
  if (!world.archived) await call(({ worlds }) => worlds.revise(varied, { archived: true }));
  return world;
}

function unlessFound(error: unknown): undefined {
  const isMissing =
    (error instanceof ServiceError && error.code === "not_found") ||
    (error instanceof PresageError && error.status === 404);
  if (!isMissing) throw error;
}
