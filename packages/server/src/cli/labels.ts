import type { CorrectedRate, LabelAgreement, RunReport } from "@presage/contract";
import { familyOf, isMeant } from "@presage/contract/describe-runs";
import { type Command, InvalidArgumentError } from "commander";
import { commandName, countOf, printable, printableJson } from "../platform/words.ts";
import { CommandError, examples, onServer, printNotice } from "./command.ts";
import { configure } from "./config.ts";
import { type Connection, type ConnectionOptions, findRun } from "./connect.ts";
import { percent } from "./evaluate/evaluate-line.ts";
import { evaluatorNamed } from "./evaluate/evaluators.ts";
import { nameOf } from "./gate.ts";
import { onConnection, withConnection } from "./open-connection.ts";
import { startsLikeGzip } from "./read-lines.ts";
import { printTable, withInterval } from "./run-tables.ts";
import { atRight, type Column, printJsonOr } from "./terminal.ts";

interface LabelOptions extends ConnectionOptions {
  annotator?: string;
  draw?: number;
  by?: "uniform" | "verdict";
  seed?: number;
  evaluator?: string;
}

interface AgreeOptions {
  evaluator?: string;
  against?: string;
  json?: boolean;
}

const whole = (text: string) => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
};
const mostDrawn = 1_000;
/** Results whose texts are read at the same time. */
const readAtOnce = 10;
const byEvaluator = [
  "--evaluator <name[=profile]>",
  "an evaluator of the run; by default its first",
] as const;

/** `presage label`, `presage agree` and `presage correct`. */
export function addLabelCommands(program: Command): void {
  program
    .command("label <what...>")
    .summary("store people's labels, or draw what to label")
    .description(
      "store people's labels, from the lines of a file ({result_id | run_id, dataset_sample_id, annotator, label}) or for one result by its id; or draw verdicts of a run, and print them as such lines with their texts",
    )
    .option(
      "--annotator <name>",
      "who labels one result; by default you, and then it may correct the verdict",
    )
    .option("--draw <count>", "draw as many verdicts of the run <what> to be labelled", whole)
    .option("--by <design>", "uniform, or verdict: half passes and half fails; by default uniform")
    .option("--seed <number>", "a different seed draws different verdicts; by default 1", whole)
    .option(...byEvaluator)
    .option(...onServer)
    .addHelpText(
      ...examples(
        "presage label labels.jsonl",
        "presage label 1042 fail --annotator ada",
        "presage label nightly --draw 20 --by verdict > to-label.jsonl",
      ),
    )
    .action(([what = "", label, ...more]: string[], options) => {
      if (more.length > 0) throw new CommandError("label takes a file, a run, or an id and pass or fail");
      return labelCommand(what, label, options);
    });
  program
    .command("agree <run>")
    .summary("say how far an evaluator agrees with people")
    .description("say how far an evaluator of a run, given by id or name, agrees with people's labels")
    .option(...byEvaluator)
    .option("--against <name[=profile]>", "compare with another evaluator of the run instead of people")
    .option("--json", "print the figures as JSON")
    .option(...onServer)
    .addHelpText(...examples("presage agree nightly --evaluator judge=system:matches-gold"))
    .action(onConnection(printAgreementOf));
  program
    .command("correct <run>")
    .summary("estimate the pass rate people would give")
    .description(
      "estimate the pass rates people would give a run, given by id or name, from their labels of some verdicts; changes nothing",
    )
    .option("--evaluator <name[=profile]>", "an evaluator of the run; by default all with labels")
    .option("--json", "print the figures as JSON")
    .option(...onServer)
    .addHelpText(...examples("presage correct nightly --evaluator judge=system:matches-gold"))
    .action(onConnection(printCorrectedOf));
}

async function labelCommand(what: string, verdict: string | undefined, options: LabelOptions): Promise<void> {
  if (options.draw !== undefined) refuseBesideDraw(verdict, options);
  else refuseWithoutDraw(verdict, options);
  await withConnection(configure(), options, async (connection) => {
    if (options.draw !== undefined) return await printDrawn(connection, what, options.draw, options);
    if (verdict !== undefined) return await labelOne(connection, what, verdict, options);
    const file = Bun.file(what);
    if (!(await file.exists()))
      throw new CommandError(`There is no file ${what}. To label one result, add pass or fail.`);
    const isGzip = await startsLikeGzip(what);
    const stored = await connection.call(({ labels }) => labels.import(file, { isGzip }));
    const back = stored.taken_back > 0 ? `, ${countOf(stored.taken_back, "label")} taken back` : "";
    process.stdout.write(`${countOf(stored.labels, "label")} stored${back}.\n`);
  });
}

function refuseBesideDraw(verdict: string | undefined, { draw = 0, annotator }: LabelOptions): void {
  if (draw < 1 || draw > mostDrawn)
    throw new CommandError(`--draw takes a whole number from 1 to ${mostDrawn}`);
  if (verdict !== undefined) throw new CommandError("--draw takes a run and no label");
  if (annotator !== undefined) throw new CommandError("--draw cannot be combined with --annotator");
}

function refuseWithoutDraw(verdict: string | undefined, { annotator, by, seed, evaluator }: LabelOptions) {
  const [option] = Object.entries({ by, seed, evaluator }).find(([, value]) => value !== undefined) ?? [];
  if (option !== undefined) throw new CommandError(`--${option} needs --draw`);
  if (verdict === undefined && annotator !== undefined)
    throw new CommandError("--annotator is for one result: each line of a file names its own");
}

async function labelOne({ call }: Connection, id: string, label: string, { annotator }: LabelOptions) {
  if (label !== "pass" && label !== "fail") throw new CommandError(`A label is pass or fail, not ${label}.`);
  if (!/^\d{1,15}$/.test(id)) throw new CommandError(`A result's id is a number, not ${id}.`);
  const { correction } = await call(({ labels }) => labels.give(id, { label, annotator: annotator ?? null }));
  const counts = correction === null ? "" : ` ${correction.pass ? "Pass" : "Fail"} counts as its verdict.`;
  process.stdout.write(`Result ${id} is labelled ${label}.${counts}\n`);
}

/** The drawn verdicts as label lines still to be filled in, each with the texts that it is about. */
async function printDrawn(
  connection: Connection,
  nameOrId: string,
  size: number,
  { by = "uniform", seed = 1, evaluator }: LabelOptions,
): Promise<void> {
  if (by !== "uniform" && by !== "verdict") throw new CommandError("--by is uniform or verdict");
  const { id } = await findRun(connection, nameOrId);
  const wanted = { size, seed, by, ...evaluatorNamed(evaluator) };
  const drawn = await connection.call(({ labels }) => labels.draw(id, wanted));
  for (let at = 0; at < drawn.data.length; at += readAtOnce) {
    const some = drawn.data.slice(at, at + readAtOnce);
    const results = await connection.call((presage) =>
      Promise.all(some.map(({ result_id }) => presage.results.get(result_id))),
    );
    for (const [index, { result_id }] of some.entries()) {
      const { evaluated_model_input, evaluated_model_gold_answer, evaluated_model_output } =
        results[index] ?? {};
      const texts = {
        input: evaluated_model_input,
        gold_answer: evaluated_model_gold_answer,
        output: evaluated_model_output,
      };
      process.stdout.write(`${printableJson({ result_id, annotator: null, label: "", texts })}\n`);
    }
  }
  const left = drawn.left_out > 0 ? `; ${drawn.left_out} equal their gold answers and were left out` : "";
  printNotice(`${countOf(drawn.data.length, "verdict")} drawn of ${drawn.drawn_from}${left}.`);
}

async function printAgreementOf(
  connection: Connection,
  nameOrId: string,
  { evaluator, against, json }: AgreeOptions,
): Promise<void> {
  const { id } = await findRun(connection, nameOrId);
  const other = evaluatorNamed(against);
  const query = {
    run: id,
    ...evaluatorNamed(evaluator),
    ...(against !== undefined && { against: "evaluator" as const, other: other.evaluator }),
    ...(other.profile_name !== undefined && { other_profile_name: other.profile_name }),
  };
  printJsonOr(json, await connection.call(({ labels }) => labels.agreement(query)), printAgreement);
}

type Corrected = Pick<RunReport["evaluators"][number], "evaluator" | "profile_name"> & {
  corrected: CorrectedRate;
};

async function printCorrectedOf(
  connection: Connection,
  nameOrId: string,
  { evaluator: named, json }: AgreeOptions,
): Promise<void> {
  const { id } = await findRun(connection, nameOrId);
  const { evaluators } = await connection.call(({ runs }) => runs.report(id));
  const { evaluator, profile_name } = evaluatorNamed(named);
  const isWanted = (one: (typeof evaluators)[number]) =>
    evaluator === undefined || isMeant({ evaluator, profile_name: profile_name ?? null }, one);
  const found = evaluators
    .filter(isWanted)
    .flatMap(({ evaluator, profile_name, corrected }) =>
      corrected === undefined ? [] : [{ evaluator, profile_name, corrected }],
    );
  if (found.length === 0)
    throw new CommandError(
      `Nobody has labelled a verdict of ${named ?? "the run"} yet: ${commandName} label ${nameOrId} --draw 50 draws some.`,
    );
  printJsonOr(json, found, printCorrected);
}

const correctedColumns: readonly Column<Corrected>[] = [
  { heading: "evaluator", text: nameOf, canWrap: true },
  atRight("says", ({ corrected: { raw } }) => percent(raw)),
  atRight("corrected (95 %)", ({ corrected: { pass_rate, interval } }) =>
    withInterval(pass_rate, interval, 100, 1, " %"),
  ),
  atRight("labels", ({ corrected: { labels } }) => String(labels)),
  atRight("λ", ({ corrected: { lambda } }) => lambda.toFixed(2)),
  atRight("gain", ({ corrected: { gain } }) => (gain === null ? "–" : `${gain.toFixed(2)} ×`)),
];

function printCorrected(found: readonly Corrected[]): void {
  printTable(correctedColumns, found);
  for (const { corrected } of found) process.stdout.write(`\n${printable(corrected.sentence)}\n`);
  const notes = new Set(found.flatMap(({ corrected }) => corrected.note ?? []));
  if (notes.size > 0) printNotice([...notes].map(printable).join("\n"));
}

interface Row {
  name: string;
  figure: LabelAgreement["agreement"];
  meaning: string;
}

const columns: readonly Column<Row>[] = [
  { heading: "figure", text: ({ name }) => name },
  atRight("value (95 %)", ({ figure: { value, interval } }) => withInterval(value, interval, 1, 2, "")),
  atRight("n", ({ figure }) => String(figure.count)),
  {
    heading: "what it says",
    text: ({ meaning, figure }) => (figure.value === null ? (figure.note ?? "") : meaning),
    canWrap: true,
  },
];

function printAgreement(found: LabelAgreement): void {
  const isOfPeople = found.against === "human";
  const reference = isOfPeople ? "people" : familyOf(found.against);
  const { counts, more_labels: more, undecided } = found;
  printTable(columns, [
    { name: "agreement", figure: found.agreement, meaning: "the share on which both say the same" },
    { name: "Cohen κ", figure: found.cohen_kappa, meaning: "beyond chance; 1 is best" },
    { name: "Gwet AC1", figure: found.gwet_ac1, meaning: "the same, stable if almost all pass" },
    { name: "Krippendorff α", figure: found.krippendorff_alpha, meaning: "of all raters together" },
    ...(isOfPeople ? [{ name: "α of people", figure: found.people_alpha, meaning: "among themselves" }] : []),
    { name: "sensitivity", figure: found.sensitivity, meaning: `passed, of what passes by ${reference}` },
    { name: "specificity", figure: found.specificity, meaning: `failed, of what fails by ${reference}` },
    { name: "precision", figure: found.precision, meaning: `right by ${reference}, of what it passes` },
  ]);
  process.stdout.write(`\n${printable(found.sentence)}\n`);
  const notes = [
    `both pass ${counts.both_pass}, only the evaluator ${counts.only_evaluator}, only the reference ${counts.only_reference}, neither ${counts.both_fail}`,
    ...(undecided > 0 ? [`${countOf(undecided, "verdict")} on which people are evenly divided`] : []),
    ...(isOfPeople && more.count !== null
      ? [
          `${countOf(more.count, "more label")} would make its interval about ±${Math.round(100 * more.half_width)} points wide`,
        ]
      : []),
    ...(found.note === null ? [] : [found.note]),
  ];
  printNotice(notes.map(printable).join("\n"));
}
