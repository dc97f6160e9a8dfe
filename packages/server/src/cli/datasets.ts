import {
  type Dataset,
  type DatasetRevision,
  EpisodeSelection,
  type RealityCheckSelection,
} from "@presage/contract";
import { type Command, InvalidArgumentError } from "commander";
import type { Config } from "../config/config.ts";
import { printable, printableJson } from "../platform/words.ts";
import { CommandError, choice, examples, json, onServer } from "./command.ts";
import { configure } from "./config.ts";
import { type Client, type Connection, type ConnectionOptions, findDataset } from "./connect.ts";
import { withConnection } from "./open-connection.ts";
import { type Column, printList } from "./terminal.ts";
import { addDatasetExport } from "./traces/export.ts";
import { addImportOptions, describeRevision, importTraces } from "./traces/import.ts";

/** `presage datasets`. */
export function addDatasetsCommands(program: Command): void {
  const datasets = program
    .command("datasets")
    .description("import, list, show or delete datasets")
    .addHelpText(
      "after",
      examples("presage datasets import --name kitchen --file transitions.jsonl", "presage datasets list"),
    );
  addImportOptions(
    datasets
      .command("import")
      .description("store a file of recorded traces, like presage import, without saying what it holds")
      .requiredOption("--name <name>", "the dataset's name; created if needed")
      .requiredOption("--file <path>", "a file of any known layout, which may be compressed"),
  )
    .addHelpText(
      "after",
      examples(
        "presage datasets import --name kitchen --file transitions.jsonl",
        "presage datasets import --name alfworld --format chat \\",
        "  --file conversations.jsonl.gz",
      ),
    )
    .action(async ({ file, ...options }) => importTraces(configure(), [file], { ...options, isQuiet: true }));
  addDatasetExport(datasets);
  addFromEpisodesCommand(datasets);
  addFromRealityCommand(datasets);
  datasets
    .command("list")
    .description("list the datasets, newest first")
    .option(...json)
    .option(...onServer)
    .addHelpText("after", examples("presage datasets list", "presage datasets list --json"))
    .action(async (options) => showDatasets(configure(), options));
  datasets
    .command("show <dataset>")
    .description("show a dataset, given by name or id, and its revisions")
    .option(...json)
    .option(...onServer)
    .addHelpText("after", examples("presage datasets show kitchen"))
    .action(async (dataset: string, options) => showDataset(configure(), dataset, options));
  datasets
    .command("delete <dataset>")
    .description("delete a dataset, given by name or id, with all its revisions")
    .option(...onServer)
    .addHelpText("after", examples("presage datasets delete kitchen"))
    .action(async (dataset: string, options) => deleteDataset(configure(), dataset, options));
}

function addFromEpisodesCommand(datasets: Command): void {
  datasets
    .command("from-episodes")
    .description("make a revision from an environment's episodes, one trajectory each")
    .requiredOption("--name <name>", "the dataset's name; created if needed")
    .requiredOption("--environment <name>", "whose episodes")
    .option("--revision <number>", "only those of this environment revision", readNumber)
    .addOption(
      choice("--split <split>", "only those with tasks of this split", ["train", "validation", "test"]),
    )
    .addOption(choice("--status <status>", "only those in this state", ["open", "finished", "expired"]))
    .addOption(
      choice("--outcome <outcome>", "only those with this outcome; none: cut short", [
        "success",
        "failure",
        "none",
      ]),
    )
    .option("--from <time>", "only those started at this time or later")
    .option("--to <time>", "only those started before this time")
    .option("--append", "keep the trajectories of the dataset's latest revision")
    .option(...onServer)
    .addHelpText(
      "after",
      examples("presage datasets from-episodes --name rollouts --environment sandbox --status finished"),
    )
    .action(async (options) => importEpisodes(configure(), options));
}

function addFromRealityCommand(datasets: Command): void {
  datasets
    .command("from-reality <checks...>")
    .description("make a revision of how episodes that reality checks replayed really went")
    .requiredOption("--name <name>", "the dataset's name; created if needed")
    .option("--until-divergence", "end each episode with the first step that differs")
    .option("--append", "keep the trajectories of the dataset's latest revision")
    .option(...onServer)
    .addHelpText(
      "after",
      examples(
        "presage datasets from-reality --name real-steps \\",
        "  019aa5f6-7d10-7000-8c3e-0b6f5a2d9c42",
      ),
    )
    .action(async (ids: string[], { untilDivergence, ...options }) => {
      const selection: RealityCheckSelection = { ids, until_divergence: untilDivergence === true };
      await reviseNamed(configure(), options, ({ uploadRealityChecks }, id, upload) =>
        uploadRealityChecks(id, selection, upload),
      );
    });
}

function readNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError("Expected a revision number.");
  return Number(text);
}

interface RevisionOptions extends ConnectionOptions {
  name: string;
  append?: boolean;
}

async function importEpisodes(
  config: Config,
  { name, append, server, ...selection }: RevisionOptions & EpisodeSelection,
): Promise<void> {
  const checked = EpisodeSelection.safeParse(selection);
  if (!checked.success) throw new CommandError(checked.error.issues[0]?.message ?? "This selects nothing.");
  await reviseNamed(config, { name, server, ...(append && { append }) }, ({ uploadEpisodes }, id, upload) =>
    uploadEpisodes(id, checked.data, upload),
  );
}

/** Makes a revision of the dataset of this name, whose trajectories are episodes. */
async function reviseNamed(
  config: Config,
  { name, append, server }: RevisionOptions,
  upload: (
    datasets: Client["datasets"],
    id: string,
    options: { append: boolean },
  ) => Promise<DatasetRevision>,
): Promise<void> {
  await withConnection(config, { server }, async (connection) => {
    const known = await findDataset(connection, name);
    const dataset = known ?? (await connection.call(({ datasets }) => datasets.create({ name })));
    try {
      describeRevision(
        dataset,
        await connection.call(({ datasets }) => upload(datasets, dataset.id, { append: append === true })),
      );
    } catch (error) {
      // A dataset that was made for nothing is not left behind.
      if (known === undefined)
        await connection.call(({ datasets }) => datasets.delete(dataset.id)).catch(() => {});
      throw error;
    }
  });
}

/** Prints the datasets, newest first. */
async function showDatasets(
  config: Config,
  { json, ...options }: ConnectionOptions & { json?: boolean },
): Promise<void> {
  await withConnection(config, options, async ({ call }) => {
    printList(await call(({ datasets }) => datasets.list()), {
      columns: datasetColumns,
      json: json ? (dataset) => dataset : undefined,
    });
  });
}

const datasetColumns: readonly Column<Dataset>[] = [
  { heading: "NAME", text: ({ name }) => printable(name), canWrap: true },
  {
    heading: "REVISION",
    text: ({ latest_revision }) => String(latest_revision?.revision ?? "none"),
    align: "right",
  },
  {
    heading: "SAMPLES",
    text: ({ latest_revision }) => String(latest_revision?.samples ?? 0),
    align: "right",
  },
  {
    heading: "TRAJECTORIES",
    text: ({ latest_revision }) => String(latest_revision?.trajectories ?? 0),
    align: "right",
  },
  { heading: "ID", text: ({ id }) => id },
];

/** Prints a dataset and its revisions. */
async function showDataset(
  config: Config,
  nameOrId: string,
  { json, ...options }: ConnectionOptions & { json?: boolean },
): Promise<void> {
  await withConnection(config, options, async (connection) => {
    const dataset = await getDataset(connection, nameOrId);
    const revisions = await connection.call(({ datasets }) => datasets.listRevisions(dataset.id));
    if (json) {
      process.stdout.write(`${printableJson({ ...dataset, revisions })}\n`);
      return;
    }
    const { name, id, description } = dataset;
    process.stdout.write(`${printable(name)}\n${id}\n`);
    if (description !== null) process.stdout.write(`${printable(description)}\n`);
    process.stdout.write("\n");
    printList(revisions, { columns: revisionColumns, json: undefined });
  });
}

async function getDataset(connection: Connection, nameOrId: string): Promise<Dataset> {
  const dataset = await findDataset(connection, nameOrId);
  if (dataset !== undefined) return dataset;
  throw new CommandError(`There is no dataset ${nameOrId}.`);
}

const revisionColumns: readonly Column<DatasetRevision>[] = [
  { heading: "REVISION", text: ({ revision }) => String(revision), align: "right" },
  { heading: "SAMPLES", text: ({ samples }) => String(samples), align: "right" },
  { heading: "TRAJECTORIES", text: ({ trajectories }) => String(trajectories), align: "right" },
  { heading: "BYTES", text: ({ bytes }) => String(bytes), align: "right" },
  { heading: "CREATED", text: ({ created_at }) => created_at.slice(0, "2026-01-31".length) },
  { heading: "SHA-256", text: ({ digest }) => digest.slice(0, 12) },
];

/** Deletes a dataset with all its revisions. */
export async function deleteDataset(
  config: Config,
  nameOrId: string,
  options: ConnectionOptions,
): Promise<void> {
  await withConnection(config, options, async (connection) => {
    const dataset = await getDataset(connection, nameOrId);
    await connection.call(({ datasets }) => datasets.delete(dataset.id));
    process.stdout.write(`Deleted ${printable(dataset.name)}.\n`);
  });
}
