import type { RunCalibration } from "@presage/contract";
import type { Command } from "commander";
import { countOf, printable } from "../platform/words.ts";
import { examples, onServer, printNotice } from "./command.ts";
import { findRun } from "./connect.ts";
import { evaluatorNamed } from "./evaluate/evaluators.ts";
import { nameOf } from "./gate.ts";
import { onConnection } from "./open-connection.ts";
import { printTable, withInterval } from "./run-tables.ts";
import { atRight, type Column, printJsonOr } from "./terminal.ts";

export function addCalibrateCommand(program: Command): void {
  program
    .command("calibrate <run>")
    .summary("say whether a run's confidences may be trusted")
    .description("say whether the confidences of a run, given by id or name, may be trusted")
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

interface CardRow {
  name: string;
  figure: Pick<RunCalibration["auroc"], "value" | "interval">;
  meaning: string;
}

const columns: readonly Column<CardRow>[] = [
  { heading: "figure", text: ({ name }) => name },
  atRight("value (95 %)", ({ figure: { value, interval } }) => withInterval(value, interval, 1, 3, "")),
  { heading: "what it says", text: ({ meaning }) => meaning, canWrap: true },
];

/** Prints a run's card as a table, with its sentence. */
function printCard(card: RunCalibration): void {
  const { brier, ece, auroc, aurc, coverage_at_risk: kept, of, without_confidence, left_out } = card;
  const expected = ece.expected === null ? "" : `; of calibrated ones ${ece.expected.toFixed(3)}`;
  const atLeast = kept.threshold === null ? "" : `, from ${of} ${kept.threshold.toFixed(3)}`;
  printTable(columns, [
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
