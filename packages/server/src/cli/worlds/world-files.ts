import { once } from "node:events";
import { Readable } from "node:stream";
import { World, WorldCreateRequest } from "@presage/contract";
import type { Command } from "commander";
import { validate } from "../../http/validate.ts";
import { printable } from "../../platform/words.ts";
import { CommandError, examples, onServer, printNotice } from "../command.ts";
import { findDataset } from "../connect.ts";
import { checkFiles } from "../files.ts";
import { onRunConnection, type RunConnection } from "../open-connection.ts";
import { type NumberedLine, readLines } from "../read-lines.ts";
import { linesOf } from "./samples.ts";

/** `presage worlds export` and `import`: a world as a line of JSON, then the lines of its dataset. */
export function addFileVerbs(worlds: Command): void {
  worlds
    .command("export <name>")
    .description("print a world, or its revision NAME@NUMBER, and its dataset as JSON lines")
    .option(...onServer)
    .addHelpText(...examples("presage worlds export shop@3 > shop.world.jsonl"))
    .action(
      onRunConnection(async (connection, name: string) => {
        const world = await connection.call((client) => client.worlds.get(name));
        await print(JSON.stringify({ world }));
        const { examples: of } = world.pinned;
        if (of === null) return;
        const from = { dataset: of.dataset_id, revision: of.revision };
        for await (const line of linesOf(connection, from)) await print(line);
      }),
    );
  worlds
    .command("import <file>")
    .description("make a world and its dataset from what export printed")
    .option("--name <name>", "what it is called; by default as it was")
    .option("--dataset <name>", "what its dataset is called; by default as it was")
    .option(...onServer)
    .addHelpText(...examples("presage worlds import shop.world.jsonl --name shop-copy"))
    .action(onRunConnection(importWorld));
}

async function print(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
}

async function importWorld(
  connection: RunConnection,
  file: string,
  named: { name?: string; dataset?: string },
): Promise<void> {
  checkFiles(file, undefined);
  const lines = readLines(file);
  const { config, pinned, ...world } = readWorld((await lines.next()).value?.text, file);
  const { examples: from } = pinned;
  const dataset = named.dataset ?? from?.dataset ?? "";
  const wanted = validate(WorldCreateRequest, { ...config, name: named.name ?? world.name, pinned }, "body");
  const stored = from && (await storeSamples(connection, lines, { dataset, digest: from.digest }));
  try {
    if (stored && stored.digest !== from.digest)
      throw new CommandError(`${file} does not have the samples of its world`);
    const examples = config.examples && stored && { ...config.examples, dataset, revision: stored.revision };
    const made = await connection.call((client) =>
      client.worlds.create({ ...wanted, ...(examples && { examples }) }),
    );
    if (stored?.made) printNotice(`Its samples are revision ${stored.revision} of ${printable(dataset)}.`);
    process.stdout.write(`Made ${printable(`${made.name}@${made.revision}`)}.\n`);
  } catch (error) {
    if (stored?.made) await deleteDataset(connection, stored.made);
    throw error;
  }
}

/** Deleted on failure, since its name would otherwise be taken when the import is repeated. */
const deleteDataset = ({ call }: RunConnection, id: string) => call(({ datasets }) => datasets.delete(id));

function readWorld(line: string | undefined, file: string): World {
  try {
    return World.parse(JSON.parse(line ?? "").world);
  } catch {
    throw new CommandError(`${file}: its first line is no world that presage worlds export printed`);
  }
}

/** The existing revision with this digest, or that of a dataset made from the lines; `made` is the new dataset's id. An interrupted import left one without revisions. */
async function storeSamples(
  connection: RunConnection,
  lines: AsyncIterable<NumberedLine>,
  { dataset: name, digest }: { dataset: string; digest: string },
): Promise<{ revision: number; digest: string; made?: string }> {
  const known = await findDataset(connection, name);
  const revisions = known && (await connection.call(({ datasets }) => datasets.listRevisions(known.id)));
  const equal = revisions?.find((one) => one.digest === digest);
  if (equal !== undefined) return equal;
  if (revisions?.length)
    throw new CommandError(`There is a dataset ${name} with other samples: name another with --dataset`);
  const { id } = known ?? (await connection.call(({ datasets }) => datasets.create({ name })));
  const bytes = Readable.toWeb(Readable.from(bytesOf(lines))) as ReadableStream<Uint8Array>;
  try {
    return { ...(await connection.call(({ datasets }) => datasets.upload(id, bytes))), made: id };
  } catch (error) {
    await deleteDataset(connection, id);
    throw error;
  }
}

async function* bytesOf(lines: AsyncIterable<NumberedLine>): AsyncGenerator<Uint8Array> {
  for await (const { text } of lines) yield Buffer.from(`${text}\n`);
}
