import {
  type Dataset,
  type DatasetRevision,
  EpisodeSelection,
  type RealityCheckSelection,
} from "@presage/contract";
import type { Presage } from "@presage/sdk";
import { type Command, InvalidArgumentError } from "commander";
import { printable } from "../platform/words.ts";
import { examples, json, onServer } from "./command.ts";
import { configure } from "./config.ts";
import { type Connection, type ConnectionOptions, getDataset } from "./connect.ts";
import { checkOptions } from "./files.ts";
import { onConnection, withConnection } from "./open-connection.ts";
import { atRight, type Column, dayOf, printJsonOr, printList } from "./terminal.ts";
import { addDatasetExport, addEpisodeFilters } from "./traces/export.ts";
import { addImportOptions, describeRevision, importTraces, reviseDataset } from "./traces/import.ts";

export function addDatasetsCommands(program: Command): void {
  const datasets = program
    .command("datasets")
    .description("import, list, show or delete datasets")
    .addHelpText(
      ...examples("presage datasets import --name kitchen --file transitions.jsonl", "presage datasets list"),
    );
  addImportOptions(
    datasets
      .command("import")
      .description(
        "store a file of recorded traces; the older form of presage import, which also says what it contains",
      )
      .requiredOption("--name <name>", "the dataset's name; created if needed")
      .requiredOption("--file <path>", "a file in any known format, which may be compressed"),
  )
    .addHelpText(
      ...examples(
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
    .addHelpText(...examples("presage datasets list", "presage datasets list --json"))
    .action(
      onConnection(async ({ call }, { json }: { json?: boolean }) =>
        printList(await call((client) => client.datasets.list()), { columns: datasetColumns, json }),
      ),
    );
  datasets
    .command("show <dataset>")
    .description("show a dataset, given by name or id, and its revisions")
    .option(...json)
    .option(...onServer)
    .addHelpText(...examples("presage datasets show kitchen"))
    .action(onConnection(showDataset));
  datasets
    .command("delete <dataset>")
    .description("delete a dataset, given by name or id, with all its revisions")
    .option(...onServer)
    .addHelpText(...examples("presage datasets delete kitchen"))
    .action(
      onConnection(async (connection, nameOrId: string) => {
        const { id, name } = await getDataset(connection, nameOrId);
        await connection.call((client) => client.datasets.delete(id));
        process.stdout.write(`Deleted ${printable(name)}.\n`);
      }),
    );
}

function addFromEpisodesCommand(datasets: Command): void {
  const options = datasets
    .command("from-episodes")
    .description("make a revision from an environment's episodes, one trajectory each")
    .requiredOption("--name <name>", "the dataset's name; created if needed")
    .requiredOption("--environment <name>", "whose episodes")
    .option("--revision <number>", "only those of this environment revision", readNumber);
  addEpisodeFilters(options)
    .option("--append", "keep the trajectories of the dataset's latest revision")
    .option(...onServer)
    .addHelpText(
      ...examples("presage datasets from-episodes --name rollouts --environment sandbox --status finished"),
    )
    .action(importEpisodes);
}

function addFromRealityCommand(datasets: Command): void {
  datasets
    .command("from-reality <checks...>")
    .description("make a revision of what really happened in episodes that reality checks replayed")
    .requiredOption("--name <name>", "the dataset's name; created if needed")
    .option("--until-divergence", "end each episode with the first step that differs")
    .option("--append", "keep the trajectories of the dataset's latest revision")
    .option(...onServer)
    .addHelpText(
      ...examples(
        "presage datasets from-reality --name real-steps \\",
        "  019aa5f6-7d10-7000-8c3e-0b6f5a2d9c42",
      ),
    )
    .action(
      onConnection(
        async (connection, ids: string[], options: RevisionOptions & { untilDivergence?: true }) => {
          const selection: RealityCheckSelection = {
            ids,
            until_divergence: options.untilDivergence === true,
          };
          await reviseByEpisodes(connection, options, ({ uploadRealityChecks }, id, upload) =>
            uploadRealityChecks(id, selection, upload),
          );
        },
      ),
    );
}

function readNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError("Expected a revision number.");
  return Number(text);
}

interface RevisionOptions {
  name: string;
  append?: boolean;
}

async function importEpisodes({
  name,
  append = false,
  server,
  ...selection
}: RevisionOptions & ConnectionOptions & EpisodeSelection): Promise<void> {
  const checked = checkOptions(EpisodeSelection, selection);
  await withConnection(configure(), { server }, (connection) =>
    reviseByEpisodes(connection, { name, append }, ({ uploadEpisodes }, id, upload) =>
      uploadEpisodes(id, checked, upload),
    ),
  );
}

/** Makes a revision of the dataset with this name; its trajectories are episodes. */
async function reviseByEpisodes(
  connection: Connection,
  { name, append = false }: RevisionOptions,
  upload: (
    datasets: Presage["datasets"],
    id: string,
    options: { append: boolean },
  ) => Promise<DatasetRevision>,
): Promise<void> {
  const { dataset, revision } = await reviseDataset(connection, name, ({ id }) =>
    connection.call(({ datasets }) => upload(datasets, id, { append })),
  );
  describeRevision(dataset, revision);
}

function ofLatest(
  heading: string,
  figure: (latest: Dataset["latest_revision"]) => number | string,
): Column<Dataset> {
  return atRight(heading, ({ latest_revision }) => String(figure(latest_revision)));
}

const datasetColumns: readonly Column<Dataset>[] = [
  { heading: "NAME", text: ({ name }) => printable(name), canWrap: true },
  ofLatest("REVISION", (latest) => latest?.revision ?? "none"),
  ofLatest("SAMPLES", (latest) => latest?.samples ?? 0),
  ofLatest("TRAJECTORIES", (latest) => latest?.trajectories ?? 0),
  { heading: "ID", text: ({ id }) => id },
];

async function showDataset(connection: Connection, nameOrId: string, { json }: { json?: boolean }) {
  const dataset = await getDataset(connection, nameOrId);
  const revisions = await connection.call(({ datasets }) => datasets.listRevisions(dataset.id));
  printJsonOr(json, { ...dataset, revisions }, ({ name, id, description }) => {
    const lines = [name, id, ...(description === null ? [] : [description])];
    process.stdout.write(`${lines.map(printable).join("\n")}\n\n`);
    printList(revisions, { columns: revisionColumns, json: false });
  });
}

const revisionColumns: readonly Column<DatasetRevision>[] = [
  atRight("REVISION", ({ revision }) => String(revision)),
  atRight("SAMPLES", ({ samples }) => String(samples)),
  atRight("TRAJECTORIES", ({ trajectories }) => String(trajectories)),
  atRight("BYTES", ({ bytes }) => String(bytes)),
  { heading: "CREATED", text: ({ created_at }) => dayOf(created_at) },
  { heading: "SHA-256", text: ({ digest }) => digest.slice(0, 12) },
];
