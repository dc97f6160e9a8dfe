import type { Command } from "commander";
import type { Configure } from "./command-options.ts";
import { examples } from "./examples.ts";
import { settleRuntimeFor } from "./settle-runtime.ts";

/** `presage predict`. */
export function addPredictCommand(program: Command, configure: Configure): void {
  program
    .command("predict")
    .description("predict a next state, or one per line of a file")
    .option("--state <text>", "the state before the action")
    .option("--action <text>", "the agent's action")
    .option("--context <json>", "the five context fields, as JSON")
    .option("--params <json>", "sampling parameters, as JSON")
    .option(
      "--file <path>",
      "transitions as JSON lines with interaction and optionally context, params and next_state",
    )
    .option(
      "--out <path>",
      "file for the predictions, as JSON lines; a second run resumes where the last one stopped; by default standard output, which must not be a terminal",
    )
    .option("--json", "with --file: write JSON lines to standard output, even to a terminal")
    .option("--keep-context", "include each line's context, which judges need")
    .option("--concurrency <number>", "maximum concurrent predictions", "32")
    .option(
      "--server <url>",
      "call this Presage server, with the API key in PRESAGE_API_KEY, instead of the configured upstream; only its predictions count in Usage",
    )
    .addHelpText(
      "after",
      examples(
        'presage predict --state "The fridge is closed." --action "open fridge"',
        "presage predict --file transitions.jsonl --out predictions.jsonl",
        "presage predict --file transitions.jsonl | jq .prediction.response.content",
        "PRESAGE_API_KEY=psg_... presage predict --file transitions.jsonl \\",
        "  --out predictions.jsonl --server http://127.0.0.1:8080",
      ),
    )
    .action(async (options) => {
      settleRuntimeFor(options.concurrency);
      const { predictCommand } = await import("./predict-command.ts");
      await predictCommand(configure(), options);
    });
}
