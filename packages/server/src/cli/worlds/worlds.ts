import {
  type ConfidenceMethod,
  type EpisodeReward,
  type World,
  type WorldCalibration,
  type WorldConfidence,
  WorldConfig,
  WorldCreateRequest,
  type WorldPreviewRequest,
} from "@presage/contract";
import type { Command } from "commander";
import { validate } from "../../http/validate.ts";
import { commandName, countOf, printable, printableLines } from "../../platform/words.ts";
import { isRecords } from "../../worlds/world.ts";
import { addCalibrationVerbs, describeCalibration } from "../calibration.ts";
import { CommandError, choice, examples, json, onServer, printNotice } from "../command.ts";
import { checkFiles } from "../files.ts";
import { onRunConnection, type RunConnection } from "../open-connection.ts";
import { readNumber } from "../run-options.ts";
import { atRight, type Column, dayOf, printJsonOr, printList } from "../terminal.ts";
import { describeDifferences } from "./describe-differences.ts";
import { type EvaluateFlags, evaluateWorld } from "./evaluate-world.ts";
import { describeExamples, type PlayOptions, playWorld } from "./play.ts";
import { samplesOf } from "./samples.ts";
import { addFileVerbs } from "./world-files.ts";

/** The content of a world, as Commander reads it. */
interface WorldFlags {
  examples?: string;
  split?: string;
  model?: string;
  retrieval?: "adapted" | "nearest";
  instructions?: string;
  description?: string;
  k?: string;
  excludeBy?: string;
  confidence?: string;
  minConfidence?: string;
}

function addConfigOptions(command: Command): Command {
  return command
    .option("--examples <dataset[@revision]>", "recorded transitions used as examples; by default the latest")
    .option("--split <name>", "only samples with this tag split; by default train, if there is one")
    .option("--model <deployment>", "the deployment that answers")
    .addOption(
      choice("--retrieval <how>", "the records alone answer: as they are, or adapted to the action", [
        "adapted",
        "nearest",
      ]),
    )
    .option("--instructions <file>", "how the system turn begins")
    .option("--description <text>", "what the world is")
    .option("--k <number>", "how many examples at most; by default 8")
    .option(
      "--exclude-by <group>",
      "what to leave out of a recorded sample's examples: trajectory (its own), or tag:NAME",
    )
    .option(
      "--confidence <methods>",
      "what its confidence comes from: agreement, logprob, stated or retrieval, separated by commas",
    )
    .option(
      "--min-confidence <number|none>",
      "the confidence below which a calibrated world abstains; none: it never does",
    );
}

/** `presage worlds` and `presage play`. */
export function addWorldsCommands(program: Command): void {
  const worlds = program
    .command("worlds")
    .summary("create, revise, show or delete worlds")
    .description("worlds: instructions, recorded examples and what answers, in revisions")
    .addHelpText(...examples("presage worlds create shop --examples shop", "presage worlds list"));
  addConfigOptions(worlds.command("create <name>").description("create a world"))
    .option("--evaluate", "measure it on recorded samples, next to simpler predictors")
    .option(...evaluatorOption)
    .option(...curveOption)
    .option(...onServer)
    .addHelpText(
      ...examples(
        "presage worlds create shop --examples shop",
        "presage worlds create shop --examples shop@4 --model qwen-wm \\",
        "  --instructions shop.md --exclude-by tag:task --evaluate",
      ),
    )
    .action(onRunConnection(createWorld));
  addConfigOptions(worlds.command("revise <name>").description("make a revision of a world"))
    .option(...onServer)
    .addHelpText(
      ...examples("presage worlds revise shop --k 4", "presage worlds revise shop --examples shop"),
    )
    .action(onRunConnection(reviseWorld));
  worlds
    .command("evaluate <name>")
    .summary("measure a world on recorded samples")
    .description(
      "measure a world on the samples of its dataset with the tag split=test, or on each without its own trajectory, next to simpler predictors",
    )
    .option(...evaluatorOption)
    .option(...curveOption)
    .option(...onServer)
    .addHelpText(...examples("presage worlds evaluate shop --curve"))
    .action(
      onRunConnection(async (connection, name: string, options: EvaluateFlags) => {
        const world = await connection.call((client) => client.worlds.get(name));
        await evaluateWorld(connection, world, options);
      }),
    );
  addReadingCommands(worlds);
  addCalibrationVerbs(worlds);
  addFileVerbs(worlds);
  addEndingCommands(worlds);
  addPlayCommand(program);
}

const evaluatorOption = ["--evaluator <name[=profile]>", "the evaluator that judges", "exact-match"] as const;
const curveOption = ["--curve", "also measure it with fewer of its trajectories"] as const;

function addReadingCommands(worlds: Command): void {
  worlds
    .command("list")
    .description("list the worlds, newest first, without archived ones")
    .option(...json)
    .option(...onServer)
    .addHelpText(...examples("presage worlds list"))
    .action(
      onRunConnection(async ({ call }, { json }: { json?: boolean }) =>
        printList(await call((client) => client.worlds.list()), { columns: worldColumns, json }),
      ),
    );
  worlds
    .command("show <name>")
    .description("show a world, or one of its revisions as NAME@NUMBER")
    .option("--json", "print it as JSON")
    .option(...onServer)
    .addHelpText(...examples("presage worlds show shop@2"))
    .action(
      onRunConnection(async ({ call }, name: string, { json }: { json?: boolean }) =>
        printJsonOr(json, await call((client) => client.worlds.get(name)), printWorld),
      ),
    );
  worlds
    .command("diff <before> <after>")
    .description("say what differs between two revisions, or two worlds")
    .option(...onServer)
    .addHelpText(...examples("presage worlds diff shop@2 shop@3"))
    .action(
      onRunConnection(async ({ call }, before: string, after: string) => {
        const [first, second] = await call((client) =>
          Promise.all([client.worlds.get(before), client.worlds.get(after)]),
        );
        const lines = describeDifferences(first, second);
        process.stdout.write(lines.length === 0 ? "They are the same.\n" : `${lines.join("\n")}\n`);
      }),
    );
  worlds
    .command("preview <name>")
    .description("print what a prediction would send, and its examples; no model is asked")
    .option("--state <text>", "the state before the action")
    .option("--action <text>", "the agent's action")
    .option("--sample <id>", "this recorded sample of the world's dataset instead")
    .option("--dataset <dataset[@revision]>", "the sample's dataset, if it is another")
    .option("--json", "print it as JSON")
    .option(...onServer)
    .addHelpText(
      ...examples(
        'presage worlds preview shop --state "An empty cart." --action "add cup"',
        "presage worlds preview shop --sample t-17/0",
      ),
    )
    .action(onRunConnection(previewWorld));
}

interface PreviewFlags {
  state?: string;
  action?: string;
  sample?: string;
  dataset?: string;
  json?: boolean;
}

function toPreviewRequest({ state, action, sample, dataset }: PreviewFlags): WorldPreviewRequest {
  if (sample === undefined) {
    if (dataset !== undefined) throw new CommandError("--dataset needs --sample");
    if (state === undefined || action === undefined)
      throw new CommandError("preview needs --state and --action, or --sample");
    return { interaction: { state, action } };
  }
  if ((state ?? action) !== undefined)
    throw new CommandError("--sample cannot be combined with --state and --action");
  return { sample: { dataset_sample_id: sample, ...(dataset !== undefined && readDataset(dataset)) } };
}

async function previewWorld({ call }: RunConnection, name: string, flags: PreviewFlags): Promise<void> {
  const request = toPreviewRequest(flags);
  const preview = await call(({ worlds }) => worlds.preview(name, request));
  printJsonOr(flags.json, preview, ({ messages }) => {
    for (const { role, content } of messages)
      process.stdout.write(`── ${role}\n${printableLines(content)}\n`);
    printNotice(describeExamples(preview).join("\n"));
  });
}

function addEndingCommands(worlds: Command): void {
  worlds
    .command("archive <name>")
    .description("leave a world out of lists; it still answers")
    .option("--undo", "list it again")
    .option(...onServer)
    .addHelpText(...examples("presage worlds archive shop"))
    .action(
      onRunConnection(async ({ call }, name: string, { undo = false }: { undo?: boolean }) => {
        await call((client) => client.worlds.revise(name, { archived: !undo }));
        process.stdout.write(`${undo ? "Listed again:" : "Archived"} ${printable(name)}.\n`);
      }),
    );
  worlds
    .command("delete <name>")
    .description("delete a world with its revisions")
    .option(...onServer)
    .addHelpText(...examples("presage worlds delete shop"))
    .action(
      onRunConnection(async ({ call }, name: string) => {
        await call((client) => client.worlds.delete(name));
        process.stdout.write(`Deleted ${printable(name)}.\n`);
      }),
    );
}

function addPlayCommand(program: Command): void {
  program
    .command("play <world>")
    .summary("act in a world, one action per line")
    .description("act in a world, one action per line; its answer is the next state, ctrl-D ends")
    .option("--state <text>", "where to begin")
    .option("--sample <id>", "begin with this recorded sample; by default with any trajectory's first")
    .option("--explain", "show the examples behind each answer")
    .option("--json", "print each answer as JSON")
    .option(...onServer)
    .addHelpText(
      ...examples(
        "presage play shop --explain",
        'echo "add cup" | presage play shop@3 --state "An empty cart."',
      ),
    )
    .action(
      onRunConnection(async (connection, name: string, options: PlayOptions) => {
        const world = await connection.call((client) => client.worlds.get(name));
        await playWorld(connection, world, options);
      }),
    );
}

async function createWorld(
  connection: RunConnection,
  name: string,
  { evaluate, ...flags }: WorldFlags & EvaluateFlags & { evaluate?: boolean },
): Promise<void> {
  const wanted = await readConfig(connection, flags);
  // What needs no model works immediately, and a model costs money, so a model is used only if it is named.
  const model: WorldConfig["model"] = wanted.model ?? { kind: "retrieval" };
  const request = validate(WorldCreateRequest, { name, ...wanted, model }, "body");
  const world = await connection.call(({ worlds }) => worlds.create(request));
  printWorld(world);
  if (wanted.model === undefined) printNotice("The records alone answer; --model names a deployment.");
  if (evaluate || flags.curve) await evaluateWorld(connection, world, flags);
  else {
    const where = flags.server === undefined ? "" : ` --server ${flags.server}`;
    printNotice(`To act in it:\n  ${commandName} play ${name}${where}`);
  }
}

async function reviseWorld(connection: RunConnection, name: string, flags: WorldFlags): Promise<void> {
  const before = await connection.call(({ worlds }) => worlds.get(name));
  const changes = await readConfig(connection, flags, before);
  if (Object.keys(changes).length === 0)
    throw new CommandError("revise needs an option that changes something");
  const after = await connection.call(({ worlds }) => worlds.revise(name, changes));
  process.stdout.write(`${describeDifferences(before, after).join("\n")}\n`);
}

/** The fields that options set. Fields without an option stay unchanged. */
async function readConfig(
  connection: RunConnection,
  flags: WorldFlags,
  revised?: World,
): Promise<WorldConfig> {
  const before = revised?.config ?? {};
  const { model, retrieval, instructions, description, k, excludeBy, confidence, minConfidence } = flags;
  if (model !== undefined && retrieval !== undefined)
    throw new CommandError("--model cannot be combined with --retrieval");
  if (instructions !== undefined) checkFiles(instructions, undefined);
  const found = {
    ...(k !== undefined && { k: readNumber("--k", k) }),
    ...(excludeBy !== undefined && { exclude_by: excludeBy }),
  };
  const methods = confidence?.split(",") as ConfidenceMethod[] | undefined;
  const sure = {
    ...(methods !== undefined && { methods }),
    ...(minConfidence !== undefined && {
      min_confidence: minConfidence === "none" ? null : readNumber("--min-confidence", minConfidence),
    }),
  };
  const chosen = await readExamples(connection, flags, revised);
  const asked = isRecords(before.model) ? undefined : before.model;
  const config = {
    ...(description !== undefined && { description }),
    ...(instructions !== undefined && { instructions: await Bun.file(instructions).text() }),
    ...(chosen !== undefined && { examples: chosen }),
    ...(Object.keys(found).length > 0 && { retrieval: { ...before.retrieval, ...found } }),
    ...(Object.keys(sure).length > 0 && {
      confidence: { ...(before.confidence ?? { methods: [] }), ...sure },
    }),
    ...(model !== undefined && { model: { ...asked, deployment: model } }),
    ...(retrieval !== undefined && { model: { kind: "retrieval" as const, answer: retrieval } }),
  };
  return validate(WorldConfig, config, "body");
}

/** DATASET, or DATASET@REVISION. */
function readDataset(text: string): { dataset: string; revision?: number } {
  const [, dataset = "", revision] = /^(.*?)(?:@([1-9]\d{0,8}))?$/s.exec(text) ?? [];
  return { dataset, ...(revision !== undefined && { revision: Number(revision) }) };
}

/** From another dataset that has splits, only the training samples, so that no test sample is an example. */
async function readExamples(
  connection: RunConnection,
  { examples: named, split }: WorldFlags,
  { config, pinned }: Pick<World, "config" | "pinned"> = unmade,
): Promise<WorldConfig["examples"]> {
  if (named === undefined && split === undefined) return undefined;
  const before = config.examples ?? undefined;
  const wanted = named === undefined ? before : readDataset(named);
  if (wanted === undefined) throw new CommandError("--split needs --examples");
  const { revision: _, split: splitBefore, ...chosen } = before ?? {};
  const names = [before?.dataset, pinned.examples?.dataset, pinned.examples?.dataset_id];
  const isSame = named === undefined || names.includes(wanted.dataset);
  const ofSplit = split ?? (isSame ? splitBefore : await findTrain(connection, wanted));
  return { ...chosen, ...wanted, ...(ofSplit && { split: ofSplit }) };
}

const unmade = { config: {}, pinned: { examples: null, calibration: null, prompt_digest: "" } };

async function findTrain(
  connection: RunConnection,
  wanted: { dataset: string; revision?: number | null | undefined },
): Promise<string | undefined> {
  const of = { dataset: wanted.dataset, revision: wanted.revision ?? undefined };
  const [first] = await samplesOf(connection, of, { most: 1 });
  if (first?.tags?.split === undefined) return undefined;
  printNotice("Only samples with the tag split=train are examples; --split names another.");
  return "train";
}

const worldColumns: readonly Column<World>[] = [
  { heading: "NAME", text: ({ name, revision }) => `${name}@${revision}` },
  { heading: "ANSWERS", text: ({ config }) => printable(whoAnswers(config)), canWrap: true },
  atRight("EXAMPLES", ({ pinned }) => String(pinned.examples?.count ?? 0)),
  {
    heading: "DATASET",
    text: ({ pinned: { examples } }) => printable(examples ? `${examples.dataset}@${examples.revision}` : ""),
    canWrap: true,
  },
  { heading: "REVISED", text: ({ revised_at }) => dayOf(revised_at) },
];

function whoAnswers({ model }: WorldConfig): string {
  if (model && "kind" in model) return `the records alone, ${model.answer ?? "adapted"}`;
  return model?.deployment ?? "the default deployment";
}

function printWorld({ name, revision, config, pinned, archived }: World): void {
  const { examples } = pinned;
  const lines = [
    `${name}@${revision}${archived ? " (archived)" : ""}`,
    ...(config.description ? [config.description] : []),
    `answered by ${whoAnswers(config)}`,
    examples === null
      ? "no examples"
      : `${countOf(examples.count, "example")} of ${examples.dataset}@${examples.revision}, with ${countOf(examples.actions, "distinct action")} in ${countOf(examples.trajectories, "trajectory", "trajectories")}`,
    ...(config.retrieval ? [`retrieval ${JSON.stringify(config.retrieval)}`] : []),
    ...(config.confidence ? [describeConfidence(config.confidence, pinned.calibration)] : []),
    ...(config.reward ? [describeReward(config.reward)] : []),
    ...(config.instructions ? ["", config.instructions] : []),
  ];
  process.stdout.write(`${lines.map(printableLines).join("\n")}\n`);
}

function describeReward({ evaluator, profile_name: profile, when }: EpisodeReward): string {
  const judge = profile ? `${evaluator} (${profile})` : evaluator;
  return `rewarded by ${judge} on ${when === "last" ? "the last step" : "every step"}`;
}

function describeConfidence(
  { methods, min_confidence: least }: WorldConfidence,
  calibration: WorldCalibration | null,
): string {
  const needed = typeof least === "number" ? `, at least ${least}` : "";
  return `confidence by ${methods.join(", ")}${needed}, ${calibration === null ? "not calibrated" : describeCalibration(calibration)}`;
}
