import { type Command, InvalidArgumentError, Option } from "commander";
import type { Config } from "../../config/config.ts";
import { examples } from "../help/examples.ts";

const onServer = [
  "--server <url>",
  "on this Presage, with the API key in PRESAGE_API_KEY, instead of in the configured database",
] as const;

/** `presage datasets`. `configure` reads the configuration, `json` is the option that every list has. */
export function addDatasetsCommands(
  program: Command,
  configure: () => Config,
  json: readonly [flags: string, description: string],
): void {
  const datasets = program
    .command("datasets")
    .description("import, list, show or delete recorded datasets")
    .addHelpText(
      "after",
      examples("presage datasets import --name kitchen --file transitions.jsonl", "presage datasets list"),
    );
  datasets
    .command("import")
    .description("upload a file's lines as a revision; a dataset of this name is created if there is none")
    .requiredOption("--name <name>", "the dataset's name")
    .requiredOption("--file <path>", "JSON lines, which may be compressed with gzip")
    .addOption(
      new Option(
        "--format <format>",
        "what the lines are; by default the fields of the first one tell",
      ).choices(["presage", "chat", "llm-sim", "predictions"]),
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
    .description("make a revision of which each trajectory is an episode of an environment")
    .requiredOption("--name <name>", "the dataset's name; it is created if there is none")
    .requiredOption("--environment <name>", "whose episodes")
    .option("--revision <number>", "only those of this revision of the environment", readNumber)
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
      new Option("--outcome <outcome>", "only those that ended so; none: they were cut short").choices([
        "success",
        "failure",
        "none",
      ]),
    )
    .option("--from <time>", "only those that were started at this time or later")
    .option("--to <time>", "only those that were started before this time")
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
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError("It is not a revision's number.");
  return Number(text);
}
