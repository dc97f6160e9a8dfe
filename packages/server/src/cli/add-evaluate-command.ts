import type { Command } from "commander";
import { type Configure, collect } from "./command-options.ts";
import { examples } from "./examples.ts";
import { settleRuntimeFor } from "./settle-runtime.ts";

/** `presage evaluate`. */
export function addEvaluateCommand(program: Command, configure: Configure): void {
  program
    .command("evaluate")
    .description("evaluate the lines of a file; stores the results")
    .requiredOption(
      "--file <path>",
      "JSON lines with evaluated_model_output and whatever the evaluators need, or the output of presage predict --file; trajectory_id and step of a line become tags",
    )
    .requiredOption("--evaluator <name[=profile]>", "an evaluator to run; repeatable", collect)
    .option(
      "--out <path>",
      "file for the outcomes, as JSON lines; a second run resumes where the last one stopped; by default standard output, unless it is a terminal",
    )
    .option("--json", "write JSON lines to standard output, even to a terminal")
    .option("--app <name>", "app that the results belong to", "default")
    .option("--tag <name=value>", "a tag for all results; repeatable", collect)
    .option("--dataset <id>", "dataset that the lines are from")
    .option("--model <name>", "model whose outputs are evaluated")
    .option("--run-id <id>", "run that the results belong to; by default the one in --out, or a new one")
    .option("--min-pass-rate <share>", "from 0 to 1: exit with 2 if the pass rate of an evaluator is lower")
    .option("--concurrency <number>", "maximum concurrent lines", "32")
    .option(
      "--server <url>",
      "evaluate on this Presage server, with the API key in PRESAGE_API_KEY; it stores the results",
    )
    .addHelpText(
      "after",
      examples(
        "presage evaluate --file predictions.jsonl --evaluator exact-match",
        "presage evaluate --file predictions.jsonl \\",
        "  --evaluator exact-match --evaluator judge=system:is-concise \\",
        "  --dataset sciworld --model world-model-1 --tag temperature=0",
        "presage evaluate --file predictions.jsonl --evaluator state-change \\",
        "  --min-pass-rate 0.8 --out outcomes.jsonl",
      ),
    )
    .action(async (options) => {
      settleRuntimeFor(options.concurrency);
      const { evaluateCommand } = await import("./evaluate-command.ts");
      await evaluateCommand(configure(), options);
    });
}
