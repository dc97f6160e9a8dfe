import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { testKey } from "../support/presage/presage.ts";
import { runPresageProcess } from "../support/presage/run-presage.ts";
import { sampleLine, useEvaluateCommand } from "../support/presage/use-evaluate-command.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";

const command = useEvaluateCommand();
const { summary } = evaluationResultsClient(() => command.presage);

test("lines of one trajectory, otherwise of one sample, that agree make a pass rate no more certain", async () => {
  const pass = sampleLine("a", "a");
  const fail = sampleLine("a", "b");
  const named = (name: string, verdicts: object[]) =>
    verdicts.map((one, index) => ({ ...one, [name]: `${name} ${Math.floor(index / 2)}` }));
  const six = [pass, pass, pass, pass, fail, fail];
  const intervals: (string | undefined)[] = [];
  for (const lines of [
    [pass, pass, fail],
    named("trajectory_id", six),
    named("dataset_sample_id", six),
    six,
  ]) {
    const { stderr } = await command.evaluate(await command.fileOf(lines), "--evaluator", "exact-match");
    intervals.push(/66\.7 % +(\S+ – \S+) %/.exec(stderr)?.[1]);
  }
  const [ofThree, byTrajectory, bySample, ofSix] = intervals;
  expect(ofThree).toMatch(/^\d+\.\d – \d+\.\d$/);
  expect([byTrajectory, bySample]).toEqual([ofThree, ofThree]);
  expect(ofSix).not.toBe(ofThree);
});

test("shows the intervals that the server shows, also for a run that is resumed", async () => {
  const verdicts = [1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 0, 1].map((pass) => sampleLine("a", pass ? "a" : "b"));
  const lines = verdicts.map((line, index) => ({ ...line, step: index % 3 }));
  const interval = (stderr: string) => /66\.7 % +(\S+ – \S+) %/.exec(stderr)?.[1];
  const shown: (string | undefined)[] = [];
  for (const [name, of, ...options] of [
    ["by trajectory", (index: number) => ({ trajectory_id: index % 4 })],
    ["tags", (index: number) => ({ tags: { trajectory_id: `t${index % 4}` } })],
    ["tags over fields", (index: number) => ({ trajectory_id: 1, tags: { trajectory_id: `t${index % 4}` } })],
    ["one tag", () => ({}), "--tag", "trajectory_id=t"],
    ["datasets", (index: number) => ({ dataset_id: `d${index % 2}`, trajectory_id: index % 4 < 2 ? 1 : 2 })],
    [
      "samples of datasets",
      (index: number) => ({ dataset_id: `d${index % 2}`, dataset_sample_id: index % 3 }),
    ],
    ["lines of datasets", (index: number) => ({ dataset_id: `d${index % 2}` })],
  ] as const) {
    const file = await command.fileOf(lines.map((line, index) => ({ ...line, ...of(index) })));
    const run = ["--evaluator", "exact-match", "--app", name, "--out", `${file}.out`, ...options];
    const { stderr } = await command.evaluate(file, ...run);
    const { groups } = await summary({ app: name });
    const { lower, upper } = groups[0]?.pass_rate_interval ?? { lower: Number.NaN, upper: Number.NaN };
    const ofServer = `${(100 * lower).toFixed(1)} – ${(100 * upper).toFixed(1)}`;
    // One cluster has no interval.
    const expected = groups[0]?.pass_rate_interval === null ? undefined : ofServer;
    expect([name, interval(stderr)]).toEqual([name, expected]);
    shown.push(expected);
    if (name !== "by trajectory") continue;
    const resumed = await command.evaluate(file, ...run);
    expect(resumed.stderr).toContain("0 lines in");
    expect(interval(resumed.stderr)).toBe(expected);
  }
  expect(new Set(shown).size).toBeGreaterThan(3);
}, 300_000);

test("says which lines failed and why: the first three reasons", async () => {
  const file = await command.fileOf([
    sampleLine("a", "a"),
    { evaluated_model_output: "a" },
    { evaluated_model_output: 7 },
    { evaluated_model_output: "a" },
    { trajectory_id: ["t"], evaluated_model_output: "a" },
    {},
  ]);
  const { code, stderr } = await command.evaluate(file, "--evaluator", "exact-match");
  expect(code).toBe(1);
  expect(stderr.replace(/\d+\.\d s/, "TIME")).toContain(
    [
      "6 lines in TIME; 5 lines with failures",
      "Failures:",
      "  line 2: exact-match system:default: missing_input: evaluated_model_gold_answer is missing. (and 1 more line)",
      "  line 3: evaluated_model_output: Input should be a valid string",
      "  line 5: trajectory_id: Input should be a valid string or a valid number",
      "  and 1 line for other reasons",
      "",
    ].join("\n"),
  );
});

test("a reason that several evaluators share is one, and counts lines", async () => {
  const withoutGold = { evaluated_model_output: "a" };
  const file = await command.fileOf([
    sampleLine("a", "a"),
    withoutGold,
    withoutGold,
    { evaluated_model_output: 7 },
  ]);
  const names = ["exact-match", "edit-distance", "token-f1", "rouge-l", "bleu"];
  const out = `${file}.out`;
  for (const [evaluators, described] of [
    [names.slice(0, 2), "exact-match system:default, edit-distance system:default"],
    [names, "exact-match system:default, edit-distance system:default, and 3 other evaluators"],
  ] as const) {
    const options = evaluators.flatMap((name) => ["--evaluator", name]);
    const { code, stderr } = await command.evaluate(file, ...options, "--out", `${out}${evaluators.length}`);
    expect(code).toBe(1);
    expect(stderr.replace(/\d+\.\d s/, "TIME")).toContain(
      [
        "4 lines in TIME; 3 lines with failures",
        "Failures:",
        `  line 2: ${described}: missing_input: evaluated_model_gold_answer is missing. (and 1 more line)`,
        "  line 4: evaluated_model_output: Input should be a valid string",
        "Run ",
      ].join("\n"),
    );
  }
});

test("predict and evaluate read standard input, packed or not", async () => {
  const lines = `${JSON.stringify({ interaction: { state: "The fridge is closed.", action: "open fridge" }, next_state: "You open the fridge." })}\n`;
  const predicted = await runPresageProcess(["predict", "--file", "-"], {}, new Blob([gzipSync(lines)]));
  expect([predicted.code, JSON.parse(predicted.stdout)]).toMatchObject([0, { line: 1, exact_match: true }]);
  const { stdout, stderr } = await runPresageProcess(
    ["evaluate", "--file", "-", "--evaluator", "exact-match", "--server", command.presage.url],
    { PRESAGE_API_KEY: testKey },
    new Blob([predicted.stdout]),
  );
  expect([JSON.parse(stdout).results[0].pass, stderr]).toEqual([true, expect.stringContaining("1 line in")]);
});
