import type { RunCalibration, WorldCalibration } from "@presage/contract";
import type { Command } from "commander";
import { commandName, countOf, printable } from "../platform/words.ts";
import { CommandError, examples, onServer, printNotice } from "./command.ts";
import { configure } from "./config.ts";
import { type ConnectionOptions, findRun } from "./connect.ts";
import { percent } from "./evaluate/evaluate-line.ts";
import { evaluatorNamed } from "./evaluate/evaluators.ts";
import { nameOf } from "./gate.ts";
import { onConnection, onRunConnection, type RunConnection, withRunConnection } from "./open-connection.ts";
import { readNumber } from "./run-options.ts";
import { printTable, withInterval } from "./run-tables.ts";
import { atRight, type Column, printJsonOr } from "./terminal.ts";

interface ThresholdOptions extends ConnectionOptions {
  run?: string;
  risk: string;
  evaluator?: string;
}

type Card = Pick<RunCalibration, "of" | "risk_coverage" | "brier">;

interface CardRow {
  name: string;
  figure: Pick<RunCalibration["auroc"], "value" | "interval">;
  meaning: string;
}

const cardColumns: readonly Column<CardRow>[] = [
  { heading: "figure", text: ({ name }) => name },
  atRight("value (95 %)", ({ figure: { value, interval } }) => withInterval(value, interval, 1, 3, "")),
  { heading: "what it says", text: ({ meaning }) => meaning, canWrap: true },
];

export function addCalibrateCommand(program: Command): void {
  program
    .command("calibrate <run>")
    .summary("say whether a run's confidences can be trusted")
    .description("say whether the confidences of a run, given by id or name, can be trusted")
    .option(
      "--evaluator <name[=profile]>",
      "the evaluator whose pass counts as right; by default the run's first",
    )
    .option("--json", "print the figures as JSON")
    .option(...onServer)
    .addHelpText(
      ...examples("presage calibrate nightly", "presage calibrate nightly --evaluator state-change --json"),
    )
    .action(
      onConnection(async (connection, nameOrId: string, options: { evaluator?: string; json?: boolean }) => {
        const { id } = await findRun(connection, nameOrId);
        const query = evaluatorNamed(options.evaluator);
        printJsonOr(
          options.json,
          await connection.call(({ runs }) => runs.calibration(id, query)),
          printCard,
        );
      }),
    );
}

/** `presage worlds calibrate` and `threshold`. */
export function addCalibrationVerbs(worlds: Command): void {
  worlds
    .command("calibrate <name>")
    .summary("turn a world's scores into calibrated confidences")
    .description(
      "turn a world's scores into calibrated confidences, fitted on a finished run of its latest revision; the samples should be neither examples nor what is tested",
    )
    .requiredOption("--run <run>", "the run, by id or name")
    .option("--split <name>", "only samples of the run whose tag split is this")
    .option("--evaluator <name>", "the evaluator of the run whose pass counts as right", "exact-match")
    .option(...onServer)
    .addHelpText(...examples("presage worlds calibrate shop --run shop@1 --split calibration"))
    .action(onRunConnection(calibrateWorld));
  worlds
    .command("threshold <name>")
    .summary("propose what confidence a world should need")
    .description("propose what confidence a world should need, from a finished run of it that is calibrated")
    .option(
      "--run <run>",
      "the run, by id or name, of samples that it was not calibrated on; by default the newest",
    )
    .option("--risk <share>", "the share of wrong answers that is allowed among those that are kept", "0.05")
    .option(
      "--evaluator <name[=profile]>",
      "the evaluator whose pass counts as right; by default the calibration's",
    )
    .option(...onServer)
    .addHelpText(...examples("presage worlds threshold shop --risk 0.05"))
    .action(thresholdCommand);
}

async function calibrateWorld(
  connection: RunConnection,
  name: string,
  { run, split, evaluator }: { run: string; split?: string; evaluator: string },
): Promise<void> {
  const { id } = await findRun(connection, run);
  const request = { run_id: id, evaluator, ...(split !== undefined && { split }) };
  const world = await connection.call(({ worlds }) => worlds.calibrate(name, request));
  const { calibration } = world.pinned;
  if (calibration === null) throw new Error("The revision has no calibration");
  process.stdout.write(`${world.name}@${world.revision} is ${describeCalibration(calibration)}\n`);
  printNotice(
    `To see what that is worth, run it on other samples, and then:\n  ${commandName} calibrate RUN`,
  );
}

/** What was fitted, and on which samples. */
export function describeCalibration(calibration: WorldCalibration): string {
  const { samples, trajectories, table, evaluator, methods, split } = calibration;
  const fit = table.kind === "isotonic" ? "isotonic regression" : "logistic regression";
  const on = `${countOf(samples, "sample")} in ${countOf(trajectories, "trajectory", "trajectories")}${split === null ? "" : ` of the split ${split}`}`;
  return printable(`calibrated by ${fit} of ${methods.join(", ")} on ${on}; right is a pass of ${evaluator}`);
}

async function thresholdCommand(
  name: string,
  { run: named, risk: share, evaluator, ...options }: ThresholdOptions,
): Promise<void> {
  const risk = readNumber("--risk", share);
  if (!(risk >= 0 && risk <= 1)) throw new CommandError("--risk takes a share, from 0 to 1");
  await withRunConnection(configure(), options, async (connection) => {
    const { call } = connection;
    const world = await call(({ worlds }) => worlds.get(name));
    const { calibration } = world.pinned;
    if (calibration === null)
      throw new CommandError(`${name} is not calibrated: ${commandName} worlds calibrate`);
    const chosen = named ?? (await call(({ worlds }) => worlds.calibration(name))).run_id;
    const { id, name: runName, target } = await findRun(connection, chosen);
    if (!("world" in target) || target.world.split("@")[0] !== world.name)
      throw new CommandError(`The run ${runName} is not of the world ${world.name}.`);
    const asked = await call(({ worlds }) => worlds.get(target.world));
    const { min_confidence: least, below } = asked.config.confidence ?? {};
    if (typeof least === "number" && below === "escalate")
      throw new CommandError(
        `In the run, ${target.world} did not give its own answers below ${least}. Name one of a revision without min_confidence.`,
      );
    const of = asked.pinned.calibration;
    if (of?.run_id !== calibration.run_id || JSON.stringify(of.table) !== JSON.stringify(calibration.table))
      throw new CommandError(`The run is of ${target.world}, which has another calibration. Run it again.`);
    const query = evaluatorNamed(evaluator ?? calibration.evaluator);
    const card = await call(({ runs }) => runs.calibration(id, query));
    process.stdout.write(`${describeThreshold(card, risk)}\n`);
    if (card.fitted_on_it)
      printNotice("The world was calibrated on these samples: on others the risk may be higher.");
    const found = proposedThreshold(card, risk);
    if (found !== undefined)
      printNotice(
        `To apply it:\n  ${commandName} worlds revise ${world.name} --min-confidence ${found.threshold}`,
      );
  });
}

/** The largest share that can be kept while the upper end of the risk's interval stays within what is allowed. */
function proposedThreshold({ of, risk_coverage: points }: Card, risk: number) {
  if (of !== "confidence") return undefined;
  return points.findLast(({ interval }) => interval !== null && interval.upper <= risk);
}

/** The threshold that a card gives for a risk, one fact per line. */
function describeThreshold(card: Card, risk: number): string {
  const { count, trajectories, value, note } = card.brier;
  if (card.of === "score") return "There is none: the predictions have scores, and no confidences.";
  if (value === null) return note ?? "There are no figures.";
  const found = proposedThreshold(card, risk);
  const counted = `${countOf(count, "prediction")} in ${countOf(trajectories, "trajectory", "trajectories")}`;
  if (found?.interval == null)
    return `There is none: for no share, however confident, is it shown that at most ${percent(risk)} are wrong (${counted}).`;
  const { threshold, coverage, interval } = found;
  const kept = Math.round(coverage * count);
  return [
    `min_confidence ${threshold}`,
    `coverage ${percent(coverage)} (${kept} of ${counted})`,
    `risk ${percent(found.risk)} (95 %: ${percent(interval.lower)} to ${percent(interval.upper)}), ${Math.round(found.risk * kept)} wrong`,
  ].join("\n");
}

/** Prints a run's card as a table, followed by its sentence. */
function printCard(card: RunCalibration): void {
  const { brier, ece, auroc, aurc, coverage_at_risk: kept, of, without_confidence, left_out } = card;
  const expected = ece.expected === null ? "" : `; of calibrated ones ${ece.expected.toFixed(3)}`;
  const atLeast = kept.threshold === null ? "" : `, from ${of} ${kept.threshold.toFixed(3)}`;
  printTable(cardColumns, [
    { name: "Brier score", figure: brier, meaning: "squared error; 0 is best" },
    { name: "calibration error", figure: ece, meaning: `of 15 bins${expected}` },
    { name: "AUROC", figure: auroc, meaning: "right ones are above wrong ones; by chance 0.5" },
    { name: "risk by coverage", figure: aurc, meaning: "the area under it; the lower, the better" },
    { name: "coverage", figure: kept, meaning: `kept at a risk of ${100 * kept.risk} %${atLeast}` },
  ]);
  const { count, trajectories } = auroc;
  process.stdout.write(`\n${printable(card.sentence)}\n`);
  const notes = [
    `${nameOf(card)}: ${countOf(count, "prediction")} in ${countOf(trajectories, "trajectory", "trajectories")}`,
    ...(of === "score" ? ["The figures are of raw scores, which are no confidences."] : []),
    ...(without_confidence > 0 ? [`${countOf(without_confidence, "prediction")} without a confidence`] : []),
    ...(left_out > 0
      ? [`${countOf(left_out, "prediction")} left out: the world was calibrated on them`]
      : []),
    ...(card.preliminary ? ["The run has not ended."] : []),
    ...new Set([brier, ece, auroc, aurc].flatMap(({ note }) => note ?? [])),
  ];
  printNotice(notes.map(printable).join("\n"));
}
