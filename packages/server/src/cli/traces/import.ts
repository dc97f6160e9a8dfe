import {
  type Dataset,
  DatasetFormat,
  type DatasetRevision,
  type ImportPreview,
  ImportPreviewQuery,
} from "@presage/contract";
import type { ImportOptions } from "@presage/sdk";
import type { Command } from "commander";
import { accountExportStart } from "../../accounts/export-account.ts";
import type { Config } from "../../config/config.ts";
import { layouts } from "../../datasets/traces/layouts.ts";
import { commandName, countOf, printable, printableJson, printableLines } from "../../platform/words.ts";
import {
  CommandError,
  choice,
  examples,
  type FlagsOf,
  json,
  onServer,
  printNotice,
  queryOf,
} from "../command.ts";
import { configure } from "../config.ts";
import { type Connection, type ConnectionOptions, connectToServer, findDataset } from "../connect.ts";
import { checkFiles } from "../files.ts";
import { previewsHere, withConnection } from "../open-connection.ts";
import { type Column, printList } from "../terminal.ts";
import {
  bodyOf,
  conversationsOf,
  describeFaults,
  describePreview,
  type ImportFile,
  isUnrecognised,
  mayHoldTraces,
  refusal,
  withFiles,
} from "./import-files.ts";

/** How files become samples, as Commander reads it. `redact` may name a file of rules. */
type ReadingFlags = FlagsOf<Omit<ImportPreviewQuery, "source" | "redact" | "redact_rules">> & {
  redact?: string;
};

interface ImportFlags extends ConnectionOptions, ReadingFlags {
  append?: boolean | undefined;
  preview?: boolean | undefined;
  json?: boolean | undefined;
  /** Whether to print nothing about the files' contents. */
  isQuiet?: boolean | undefined;
}

export function addImportOptions(command: Command): Command {
  return command
    .addOption(
      choice("--format <format>", "format of the files; by default recognised from their contents", [
        "auto",
        ...DatasetFormat.options,
      ]),
    )
    .option("--preview", "print what the files contain, and store nothing")
    .option("--append", "keep the samples of the dataset's latest revision")
    .addOption(
      choice("--assistant-is <who>", "who the assistant of a conversation is", ["agent", "environment"]),
    )
    .addOption(choice("--step <what>", "what is one step; by default each call", ["call", "turn"]))
    .addOption(choice("--keep <what>", "keep the agent's thoughts as a tag", ["thoughts"]))
    .option("--score <name>", "for logs with several scores: the one that is the reward")
    .option("--split-by <group>", "tag as train, test, calibration: by trajectory, task or tag:NAME")
    .option("--test <share>", "share of groups for testing; by default 0.2")
    .option("--calibration <share>", "share of groups for calibrating confidences")
    .addOption(
      choice("--on-fault <what>", "what to do about faulty lines; by default refuse", ["refuse", "skip"]),
    )
    .option("--redact <rules>", "default, strict, none, or a YAML file of rules")
    .option(...json)
    .option(...onServer);
}

/** `presage import` and `presage formats`. */
export function addImportCommands(program: Command): void {
  addImportOptions(
    program
      .command("import <files...>")
      .summary("store recorded traces as a dataset")
      .description(
        "read recorded traces in any known format, say what they contain, and store them as a revision of a dataset; folders are walked, - is standard input",
      )
      .option("--name <name>", "the dataset's name; created if needed"),
  )
    .option("--account <name>", "for an account's export: see presage account import")
    .addHelpText(
      ...examples(
        "presage import runs/*.json --preview",
        "presage import runs/*.json --name shop",
        "presage formats",
      ),
    )
    .action(async (files: string[], { account, ...options }) => {
      if (options.name === undefined && !options.preview) {
        const { importAccountFile } = await import("../database.ts");
        return await importAccountFile(configure(), files, { account, others: Object.keys(options) });
      }
      if (account !== undefined)
        throw new CommandError("--account is for an account's export, which has no --name and no --preview.");
      await importTraces(configure(), files, options);
    });
  program
    .command("formats")
    .description("list the formats that presage import reads")
    .option(...json)
    .addHelpText(...examples("presage formats", "presage formats --json"))
    .action(({ json }: { json?: boolean }) => {
      printList(layouts, {
        columns: layoutColumns,
        json,
        toJson: ({ format, about }) => ({ format, ...about }),
      });
      if (json) return;
      for (const { format, about } of layouts)
        process.stdout.write(`\n${format}:\n${about.example.replaceAll(/^/gm, "  ")}\n`);
    });
}

const layoutColumns: readonly Column<(typeof layouts)[number]>[] = [
  { heading: "FORMAT", text: ({ format }) => format },
  { heading: "WHAT IT IS", text: ({ about }) => about.title, canWrap: true },
  { heading: "RECOGNISED BY", text: ({ about }) => about.recognised_by, canWrap: true },
];

/** Reads files, says what they contain, and stores them as a revision of the dataset with this name unless it is a preview. */
export async function importTraces(
  config: Config,
  paths: readonly string[],
  { name, server, append, preview, json, isQuiet, ...reading }: ImportFlags & { name?: string },
): Promise<void> {
  await withFiles(paths, async (files) => {
    const options = await readFlags(reading);
    const good = await previewFiles(config, files, options, { server, json, isQuiet, preview });
    if (preview || name === undefined) return;
    await withConnection(
      config,
      { server },
      async (connection) => {
        const { dataset, revision } = await importFiles(connection, name, good, { ...options, append });
        if (json) process.stdout.write(`${printableJson(importedJson(dataset, revision))}\n`);
        else describeRevision(dataset, revision);
      },
      { mustExist: false },
    );
  });
}

/** What `--json` prints for an import. */
function importedJson(
  { id }: Dataset,
  { revision, digest, samples, trajectories, import: read }: DatasetRevision,
) {
  const { format, files = [], left_out = {}, redacted = {}, faults = [] } = read ?? {};
  return {
    dataset_id: id,
    revision,
    digest,
    format,
    files: files.map(({ file, format }) => ({ file, format })),
    trajectories,
    samples,
    left_out,
    redacted,
    faults,
  };
}

/** Prints what a revision contains. */
export function describeRevision(
  dataset: Pick<Dataset, "id" | "name">,
  { revision, samples, trajectories, digest }: DatasetRevision,
): void {
  process.stdout.write(
    `Revision ${revision} of ${printable(dataset.name)}: ${countOf(samples, "sample")} in ${countOf(trajectories, "trajectory", "trajectories")}.\nDataset ${dataset.id}, SHA-256 ${digest}\n`,
  );
}

/** Makes a revision of the dataset with this name, which is created if it does not exist. */
export async function reviseDataset(
  connection: Connection,
  name: string,
  revise: (dataset: Dataset) => Promise<DatasetRevision>,
): Promise<{ dataset: Dataset; revision: DatasetRevision }> {
  const { call } = connection;
  const found = await findDataset(connection, name);
  const dataset = found ?? (await call(({ datasets }) => datasets.create({ name })));
  try {
    return { dataset, revision: await revise(dataset) };
  } catch (error) {
    // A dataset that was created for a failed import is deleted, unless someone has used it meanwhile.
    if (found === undefined)
      await call(async ({ datasets }) => {
        if ((await datasets.get(dataset.id)).latest_revision === null) await datasets.delete(dataset.id);
      }).catch(() => {});
    throw error;
  }
}

/** Uploads files as a revision of the dataset with this name, which is created if it does not exist. */
export async function importFiles(
  connection: Connection,
  name: string,
  files: readonly ImportFile[],
  options: ImportOptions & { append?: boolean | undefined } = {},
): Promise<{ dataset: Dataset; revision: DatasetRevision }> {
  const { body, ...about } = bodyOf(files);
  const imported = await reviseDataset(connection, name, async ({ id }) =>
    connection
      .call(({ datasets }) => datasets.upload(id, body, { ...options, ...about }))
      .catch((error: unknown) => {
        throw refusal(error, files);
      }),
  );
  for (const warning of imported.revision.warnings ?? []) printNotice(printableLines(warning));
  return imported;
}

async function readFlags({ redact, ...flags }: ReadingFlags): Promise<ImportOptions> {
  if (!ImportPreviewQuery.shape.split_by.safeParse(flags.splitBy).success)
    throw new CommandError("--split-by takes trajectory, task or tag:NAME");
  return { ...queryOf<ImportPreviewQuery>(flags), ...(await readRedaction(redact)) };
}

/** The name of a rule set, or a file of rules to use in addition to the usual ones. */
async function readRedaction(redact: string | undefined): Promise<ImportOptions> {
  if (redact === undefined || redact === "default" || redact === "strict" || redact === "none")
    return { redact };
  checkFiles(redact, undefined);
  return { redact: "default", redact_rules: await Bun.file(redact).text() };
}

const maxDescribed = 10;

/**
 * Says what the files contain, and returns those that can be imported. Faults that would fail the import fail here already. Files in
 * folders are left out if their format is unknown.
 */
async function previewFiles(
  config: Config,
  files: readonly ImportFile[],
  options: ImportOptions,
  { server, json, isQuiet = false, preview: isPreview = false }: ImportFlags,
): Promise<ImportFile[]> {
  const previewFile = openPreviews(config, server);
  const good: ImportFile[] = [];
  let described = 0;
  for (const { parts, ...file } of conversationsOf(files)) {
    const isRead = file.isNamed || (await mayHoldTraces(file));
    const preview = await (isRead ? previewFile(parts, options) : undefined)?.catch((error: unknown) => {
      if (file.isNamed || !isUnrecognised(error)) throw refusal(error, parts);
    });
    if (preview === undefined) {
      printNotice(`${printable(file.shown)} is left out: it has no known format.`);
      continue;
    }
    good.push(...parts);
    described += 1;
    if (isPreview && json) process.stdout.write(`${printableJson({ file: file.shown, ...preview })}\n`);
    else if (!json && (isPreview || (!isQuiet && described <= maxDescribed)))
      process.stdout.write(describePreview(file, preview, { isWhole: isPreview }));
    if (preview.faults.length > 0 && options.on_fault !== "skip")
      throw new CommandError(describeFaults(preview.faults, preview.skipped, parts));
  }
  if (good.length === 0)
    throw new CommandError(`No file has a known format. ${commandName} formats lists them.`);
  if (!isPreview && !json && !isQuiet && described > maxDescribed)
    process.stdout.write(`… and ${countOf(described - maxDescribed, "more file")}\n`);
  return good;
}

type PreviewFile = (parts: readonly ImportFile[], options: ImportOptions) => Promise<ImportPreview>;

function openPreviews(config: Config, server: string | undefined): PreviewFile {
  const { call } = server === undefined ? previewsHere(config) : connectToServer(server, config.clientApiKey);
  return async (parts, options) => {
    for (const part of parts) await refuseAccountExport(part);
    const { body, ...about } = bodyOf(parts);
    return await call(({ imports }) => imports.preview(body, { ...options, ...about }));
  };
}

async function refuseAccountExport({ path, shown }: ImportFile): Promise<void> {
  const start = await Bun.file(path).slice(0, 100).text();
  if (!start.startsWith(accountExportStart)) return;
  throw new CommandError(
    `${shown} is an account's export. Store it with: ${commandName} account import ${shown}`,
  );
}
