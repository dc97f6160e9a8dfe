import { once } from "node:events";
import { Readable } from "node:stream";
import { World } from "@presage/contract";
import type { Command } from "commander";
import { printable } from "../../platform/words.ts";
import { CommandError, examples, onServer, printNotice } from "../command.ts";
import { configure } from "../config.ts";
import { findDataset } from "../connect.ts";
import { checkFiles, type NumberedLine, readLines } from "../files.ts";
import { type RunConnection, withRunConnection } from "../open-connection.ts";
import { linesOf, type WantedSamples } from "./samples.ts";

/** `presage worlds export` and `import`: a world as a line of JSON, then the lines of its dataset. */
export function addFileVerbs(worlds: Command): void {
  worlds
    .command("export <name>")
    .description("print a world, or its revision NAME@NUMBER, and its dataset as JSON lines")
    .option(...onServer)
    .addHelpText("after", examples("presage worlds export shop@3 > shop.world.jsonl"))
    .action((name: string, options) =>
      withRunConnection(configure(), options, async (connection) => {
        const world = await connection.call((client) => client.worlds.get(name));
        await print(JSON.stringify({ world }));
        const from = datasetOf(world);
        if (from !== undefined) for await (const line of linesOf(connection, from)) await print(line);
      }),
    );
  worlds
    .command("import <file>")
    .description("make a world, and its dataset, of what export printed")
    .option("--name <name>", "what it is called; by default as it was")
    .option("--dataset <name>", "what its dataset is called; by default as it was")
    .option(...onServer)
    .addHelpText("after", examples("presage worlds import shop.world.jsonl --name shop-copy"))
    .action((file: string, { name, dataset, ...options }) =>
      withRunConnection(configure(), options, (connection) =>
        importWorld(connection, file, { name, dataset }),
      ),
    );
}

function datasetOf({ pinned: { examples: of } }: World): WantedSamples | undefined {
  return of === null ? undefined : { dataset: of.dataset_id, revision: of.revision };
}

async function print(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
}

async function importWorld(
  connection: RunConnection,
  file: string,
  named: { name: string | undefined; dataset: string | undefined },
): Promise<void> {
  checkFiles(file, undefined);
  const lines = readLines(file);
  const { config, pinned, ...world } = readWorld((await lines.next()).value?.text, file);
  const { examples: from } = pinned;
  const dataset = named.dataset ?? from?.dataset ?? "";
  const revision = from && (await storeSamples(connection, lines, { dataset, digest: from.digest }));
  const made = await connection.call((client) =>
    client.worlds.create({
      ...config,
      name: named.name ?? world.name,
      ...(config.examples && revision !== null && { examples: { ...config.examples, dataset, revision } }),
      pinned,
    }),
  );
  process.stdout.write(`Made ${printable(`${made.name}@${made.revision}`)}.\n`);
}

function readWorld(line: string | undefined, file: string): World {
  try {
    return World.parse(JSON.parse(line ?? "").world);
  } catch {
    throw new CommandError(`${file}: its first line is no world that presage worlds export printed`);
  }
}

/** The number of the revision with this digest: of one that is there, or of a dataset that is made of the lines. */
async function storeSamples(
  connection: RunConnection,
  lines: AsyncIterable<NumberedLine>,
  { dataset: name, digest }: { dataset: string; digest: string },
): Promise<number> {
  const known = await findDataset(connection, name);
  if (known !== undefined) {
    const revisions = await connection.call(({ datasets }) => datasets.listRevisions(known.id));
    const equal = revisions.find((one) => one.digest === digest);
    if (equal !== undefined) return equal.revision;
    throw new CommandError(`There is a dataset ${name} with other samples: name another with --dataset`);
  }
  const { id } = await connection.call(({ datasets }) => datasets.create({ name }));
  const bytes = Readable.toWeb(Readable.from(bytesOf(lines))) as ReadableStream<Uint8Array>;
  const made = await connection.call(({ datasets }) => datasets.upload(id, bytes));
  printNotice(`Its samples are revision ${made.revision} of ${printable(name)}.`);
  return made.revision;
}

async function* bytesOf(lines: AsyncIterable<NumberedLine>): AsyncGenerator<Uint8Array> {
  for await (const { text } of lines) yield Buffer.from(`${text}\n`);
}
