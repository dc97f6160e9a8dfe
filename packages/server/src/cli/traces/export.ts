import { createWriteStream, statSync } from "node:fs";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  type DatasetExportQuery,
  EpisodeExportQuery,
  ExportFormat,
  RunExportFormat,
  type RunExportQuery,
} from "@presage/contract";
import type { QueryOf } from "@presage/sdk";
import type { Command } from "commander";
import { replaceFile } from "../../platform/storage/backup.ts";
import { choice, examples, type FlagsOf, onServer, printNotice, queryOf } from "../command.ts";
import { configure } from "../config.ts";
import { type ConnectionOptions, findRun, getDataset } from "../connect.ts";
import { explainFileError } from "../errors.ts";
import { checkOptions, checkOutputFile } from "../files.ts";
import { onConnection, withConnection } from "../open-connection.ts";

/** What to write and where, as Commander reads it. */
interface CommonFlags extends ConnectionOptions {
  out?: string;
  atif?: DatasetExportQuery["version"];
  content?: boolean;
  loss?: boolean;
}

type ExportFlags<Query> = CommonFlags & FlagsOf<Omit<Query, "version" | "content" | "loss">>;

function addExportOptions(command: Command, formats: readonly string[]): Command {
  return command
    .addOption(choice("--format <format>", "the format to write; by default presage", formats))
    .option("--out <file>", "the file to write; by default standard output")
    .addOption(choice("--atif <version>", "version of atif; by default 1.7", ["1.7", "1.8"]))
    .option("--content", "with otel-genai: the texts as well")
    .addOption(choice("--direction <who>", "with sft: whose turns to train on", ["world", "agent"]))
    .addOption(choice("--only <which>", "with sft: only trajectories that succeeded", ["success"]))
    .option("--min-reward <number>", "with sft: only trajectories that end with at least this reward")
    .option("--loss", "with sft: mark the turns to train on")
    .addOption(choice("--redact <rules>", "what becomes of secrets", ["default", "strict", "none"]))
    .option(...onServer);
}

export function addDatasetExport(datasets: Command): void {
  addExportOptions(datasets.command("export <dataset>"), ExportFormat.options)
    .description("write a revision of a dataset, given by name or id, as a file")
    .option("--revision <number>", "by default the latest")
    .addHelpText(...examples("presage datasets export shop --format sft --only success --out train.jsonl"))
    .action(
      onConnection(async (connection, name: string, flags: ExportFlags<DatasetExportQuery>) => {
        const { id } = await getDataset(connection, name);
        const query = exportQuery<DatasetExportQuery>(flags);
        await connection.call((client) => write(client.datasets.export(id, query), flags));
      }),
    );
}

export function addRunExport(runs: Command): void {
  addExportOptions(runs.command("export <run>"), RunExportFormat.options)
    .description("write the predictions of a run, given by name or id, as a file")
    .option("--evaluator <name>", "whose scores are the rewards, or tell chosen from rejected")
    .option("--against <run>", "with preference: another run of the same revision")
    .option("--margin <number>", "with preference: the least difference of scores; by default 0.1")
    .option("--per-sample <number>", "with preference: the most pairs of a sample; by default 1")
    .addOption(choice("--chosen <what>", "with preference: what is chosen", ["prediction", "reference"]))
    .addHelpText(
      ...examples(
        "presage runs export nightly --format inspect --out nightly.eval",
        "presage runs export nightly --format preference --evaluator exact-match --out pairs.jsonl",
      ),
    )
    .action(
      onConnection(async (connection, name: string, flags: ExportFlags<RunExportQuery>) => {
        const { id } = await findRun(connection, name);
        const against = flags.against && { against: (await findRun(connection, flags.against)).id };
        const query = exportQuery<RunExportQuery>({ ...flags, ...(against || {}) });
        await connection.call((client) => write(client.runs.export(id, query), flags));
      }),
    );
}

/** The options that select episodes of an environment. */
export function addEpisodeFilters(command: Command): Command {
  return command
    .addOption(
      choice("--split <split>", "only those with tasks of this split", ["train", "validation", "test"]),
    )
    .option("--policy <label>", "only those of this policy")
    .addOption(choice("--status <status>", "only those in this state", ["open", "finished", "expired"]))
    .addOption(
      choice("--outcome <outcome>", "only those with this outcome; none: cut short", [
        "success",
        "failure",
        "none",
      ]),
    )
    .option("--from <time>", "only those started at this time or later")
    .option("--to <time>", "only those started before this time");
}

export function addEpisodesCommands(program: Command): void {
  const episodes = program.command("episodes").description("write episodes of environments as a file");
  const options = addExportOptions(episodes.command("export"), ExportFormat.options)
    .description("write the steps of the episodes that match as a file, oldest first")
    .option("--environment <name>", "whose episodes")
    .option("--revision <number>", "only those of this environment revision");
  addEpisodeFilters(options)
    .addHelpText(...examples("presage episodes export --environment shop --format atif --out episodes.jsonl"))
    .action(async (flags: ExportFlags<EpisodeExportQuery>) => {
      const query = checkOptions(EpisodeExportQuery, exportQuery<EpisodeExportQuery>(flags));
      await withConnection(configure(), flags, ({ call }) =>
        call(({ episodes }) => write(episodes.export(query), { out: flags.out })),
      );
    });
}

function exportQuery<Query>({ server: _, out: __, atif, content, loss, ...others }: CommonFlags) {
  const switches = { content: content ? "true" : undefined, loss: loss ? "true" : undefined };
  return queryOf<QueryOf<Query>>({ ...others, ...switches, version: atif });
}

const noPairs =
  "There are no pairs: no sample has a better and a worse prediction. Run it with more repeats, name another run with --against, or use --chosen reference.";

/** A regular file appears once it is complete. Anything else, such as a pipe, gets the data as it comes. */
export async function writeOutput(
  out: string,
  chunks: Iterable<string> | AsyncIterable<Uint8Array>,
): Promise<void> {
  checkOutputFile(out, { mayBePipe: true });
  const write = (path: string) => pipeline(Readable.from(chunks), createWriteStream(path));
  const isPipe = statSync(out, { throwIfNoEntry: false })?.isFile() === false;
  try {
    await (isPipe ? write(out) : replaceFile(resolve(out), write, { isShared: true }));
  } catch (error) {
    throw explainFileError(error, out);
  }
}

/** Says so if the written data is empty. */
async function write(
  chunks: AsyncIterable<Uint8Array>,
  { out, format }: { out?: string | undefined; format?: string | undefined },
): Promise<void> {
  let isEmpty = true;
  async function* counted() {
    for await (const chunk of chunks) {
      if (chunk.length > 0) isEmpty = false;
      yield chunk;
    }
  }
  if (out === undefined) await pipeline(Readable.from(counted()), process.stdout, { end: false });
  else await writeOutput(out, counted());
  if (isEmpty) printNotice(format === "preference" ? noPairs : "Nothing matches: what was written is empty.");
}
