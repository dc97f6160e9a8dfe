import { type Command, InvalidArgumentError, Option } from "commander";
import { type Configure, json, onServer } from "./command-options.ts";
import { examples } from "./examples.ts";

/** `presage datasets`. */
export function addDatasetsCommands(program: Command, configure: Configure): void {
  const datasets = program
    .command("datasets")
    .description("import, list, show or delete recorded datasets")
    .addHelpText(
      "after",
      examples("presage datasets import --name kitchen --file transitions.jsonl", "presage datasets list"),
    );
  datasets
    .command("import")
    .description("upload a file's lines as a revision, creating the dataset if needed")
    .requiredOption("--name <name>", "the dataset's name")
    .requiredOption("--file <path>", "JSON lines, which may be compressed with gzip")
    .addOption(
      new Option("--format <format>", "format of the lines; by default detected from the first").choices([
        "presage",
        "chat",
        "llm-sim",
        "predictions",
      ]),
    )
    .option(...onServer)
    .addHelpText(
      "after",
      examples(
        "presage datasets import --name kitchen --file transitions.jsonl",
        "presage datasets import --name alfworld --format chat \\",
        "  --file conversations.jsonl.gz",
      ),
    )
    .action(async (options) => (await import("./import.ts")).importDataset(configure(), options));
  datasets
    .command("from-episodes")
    .description("make a revision from an environment's episodes, one trajectory each")
    .requiredOption("--name <name>", "the dataset's name; created if needed")
    .requiredOption("--environment <name>", "whose episodes")
    .option("--revision <number>", "only those of this environment revision", readNumber)
    .addOption(
      new Option("--split <split>", "only those with tasks of this split").choices([
        "train",
        "validation",
        "test",
      ]),
    )
    .addOption(
      new Option("--status <status>", "only those in this state").choices(["open", "finished", "expired"]),
    )
    .addOption(
      new Option("--outcome <outcome>", "only those with this outcome; none: cut short").choices([
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
    .action(async (options) => (await import("./from-episodes.ts")).importEpisodes(configure(), options));
  datasets
    .command("list")
    .description("list the datasets, newest first")
    .option(...json)
    .option(...onServer)
    .addHelpText("after", examples("presage datasets list", "presage datasets list --json"))
    .action(async (options) => (await import("./list.ts")).showDatasets(configure(), options));
  datasets
    .command("show <dataset>")
    .description("show a dataset, given by name or id, and its revisions")
    .option(...json)
    .option(...onServer)
    .addHelpText("after", examples("presage datasets show kitchen"))
    .action(async (dataset: string, options) =>
      (await import("./show.ts")).showDataset(configure(), dataset, options),
    );
  datasets
    .command("delete <dataset>")
    .description("delete a dataset, given by name or id, with all its revisions")
    .option(...onServer)
    .addHelpText("after", examples("presage datasets delete kitchen"))
    .action(async (dataset: string, options) =>
      (await import("./delete.ts")).deleteDataset(configure(), dataset, options),
    );
}

function readNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError("Expected a revision number.");
  return Number(text);
}
