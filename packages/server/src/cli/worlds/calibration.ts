import type { RunCalibration, WorldCalibration } from "@presage/contract";
import type { Command } from "commander";
import { commandName, countOf, printable } from "../../platform/words.ts";
import { CommandError, examples, onServer, printNotice } from "../command.ts";
import { configure } from "../config.ts";
import { type ConnectionOptions, findRun } from "../connect.ts";
import { percent } from "../evaluate/evaluate-line.ts";
import { evaluatorNamed } from "../evaluate/evaluators.ts";
import { onRunConnection, type RunConnection, withRunConnection } from "../open-connection.ts";
import { readNumber } from "../run-options.ts";

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

/** What was fitted, on what. */
export function describeCalibration(calibration: WorldCalibration): string {
  const { samples, trajectories, table, evaluator, methods, split } = calibration;
  const fit = table.kind === "isotonic" ? "isotonic regression" : "logistic regression";
  const on = `${countOf(samples, "sample")} in ${countOf(trajectories, "trajectory", "trajectories")}${split === null ? "" : ` of the split ${split}`}`;
  return printable(`calibrated by ${fit} of ${methods.join(", ")} on ${on}; right is a pass of ${evaluator}`);
}

interface ThresholdOptions extends ConnectionOptions {
  run?: string;
  risk: string;
  evaluator?: string;
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
    const { min_confidence: least, below, hide_abstained: isHidden } = asked.config.confidence ?? {};
    if (typeof least === "number" && (below === "escalate" || isHidden))
      throw new CommandError(
        `In the run, ${target.world} did not give its own answers below ${least}. Name one of a revision without min_confidence.`,
      );
    const of = asked.pinned.calibration;
    if (of?.run_id !== calibration.run_id || JSON.stringify(of.table) !== JSON.stringify(calibration.table))
      throw new CommandError(`The run is of ${target.world}, which has another calibration. Run it anew.`);
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

type Card = Pick<RunCalibration, "of" | "risk_coverage" | "brier">;

/** The most that can be kept so that the upper end of the risk's interval is no higher than what is allowed. */
function proposedThreshold({ of, risk_coverage: points }: Card, risk: number) {
  if (of !== "confidence") return undefined;
  return points.findLast(({ interval }) => interval !== null && interval.upper <= risk);
}

/** The threshold that a card gives for a risk, in a line each. */
function describeThreshold(card: Card, risk: number): string {
  const { count, trajectories, value, note } = card.brier;
  if (card.of === "score") return "There is none: the predictions have scores, and no confidences.";
  if (value === null) return note ?? "There are no figures.";
  const found = proposedThreshold(card, risk);
  const counted = `${countOf(count, "prediction")} in ${countOf(trajectories, "trajectory", "trajectories")}`;
  if (found?.interval == null)
    return `There is none: of no share, however sure it is, is it shown that at most ${percent(risk)} are wrong (${counted}).`;
  const { threshold, coverage, interval } = found;
  const kept = Math.round(coverage * count);
  return [
    `min_confidence ${threshold}`,
    `coverage ${percent(coverage)} (${kept} of ${counted})`,
    `risk ${percent(found.risk)} (95 %: ${percent(interval.lower)} to ${percent(interval.upper)}), ${Math.round(found.risk * kept)} wrong`,
  ].join("\n");
}
