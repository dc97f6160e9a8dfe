import { beforeAll, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Comparison, LabelAgreement, LabelSample, RunReport } from "@presage/contract";
import { runPresage } from "../support/presage/run-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient, toLines } from "../support/resources/datasets.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { isWholeRun } from "../support/whole-run.ts";

const key = "bootstrap-key-of-the-tests-0123456789";
/** Ten trajectories of four steps. */
const samples = Array.from({ length: 40 }, (_, index) => ({
  trajectory_id: `t${Math.floor(index / 4)}`,
  step: index % 4,
  interaction: { state: `state ${index}`, action: "go on" },
  next_state: `the state ${index + 1}`,
}));
const idOf = (index: number) => `t${Math.floor(index / 4)}/${index % 4}`;
/** One in eight is exact, every second of these with trailing white space; every third of the others has the same words. */
const predictionOf = (index: number) => {
  if (index % 8 === 0) return `the state ${index + 1}${index % 16 === 0 ? " \t\r\n" : ""}`;
  return index % 3 === 0 ? `State, the: ${index + 1}` : "nothing";
};

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const datasets = datasetClient(presage);
  const { create, end } = runClient(presage);
  const run = { id: "", evaluators: ["token-f1", "exact-match"] };
  /** The result of `token-f1` for each sample. */
  const results: { id: string; pass: boolean }[] = [];

  // biome-ignore lint/suspicious/noExplicitAny: each of the answers has a shape of its own
  async function call(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }> {
    const response = await presage.call(method, path, body, { "x-api-key": key });
    return { status: response.status, body: await response.json() };
  }
  const agreement = async (query = "") =>
    LabelAgreement.parse((await call("GET", `/v1/agreement?run=${run.id}${query}`)).body);
  const label = (index: number, body: object) =>
    call("POST", `/v1/evaluation-results/${results[index]?.id}/labels`, body);
  const upload = (lines: readonly object[]) => call("POST", "/v1/evaluation-labels", toLines(lines));

  beforeAll(async () => {
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, samples);
    const evaluators = run.evaluators.map((evaluator) => ({ evaluator }));
    run.id = (await create({ dataset_id, target: { predictions: "imported" }, evaluators })).id;
    const lines = samples.map((_, index) => ({ index, prediction: predictionOf(index) }));
    await call("POST", `/v1/runs/${run.id}/predictions`, toLines(lines));
    await end(run.id);
    const search = {
      evaluation_run_id: run.id,
      evaluator_id: "token-f1",
      order: "dataset_sample_id",
      limit: 100,
    };
    const found = (await call("POST", "/v1/evaluation-results/search", search)).body.results;
    for (const { id, pass } of found) results.push({ id, pass });
    expect(results.map(({ pass }) => pass)).toEqual(
      samples.map((_, index) => predictionOf(index) !== "nothing"),
    );
  });

  test("Without labels, the figures say so, and how many it takes", async () => {
    expect(await agreement()).toMatchObject({
      sentence: "Nobody has labelled a verdict of token-f1 yet.",
      counts: { both_pass: 0, only_evaluator: 0, only_reference: 0, both_fail: 0 },
      agreement: { value: null, interval: null, note: "There is nothing to compare." },
      more_labels: { half_width: 0.1, count: 95 },
    });
  });

  test("A person's newest label counts, and one that disagrees corrects the verdict as long as it is there", async () => {
    const first = await label(1, { label: "fail" });
    expect(first).toMatchObject({ status: 201, body: { data: [{ label: "fail" }], correction: null } });
    expect(await label(1, { label: "pass", score: 0.7 })).toMatchObject({
      body: {
        data: [{ label: "pass", score: 0.7, user_id: expect.any(String) }],
        correction: { pass: true, score_raw: 0.7 },
      },
    });
    // A named annotator corrects nothing, and a person's correction stays.
    expect(await label(2, { label: "pass", annotator: "ada" })).toMatchObject({
      body: { data: [{ label: "pass", annotator: "ada", user_id: null }], correction: null },
    });
    await call("POST", `/v1/evaluation-results/${results[2]?.id}/correction`, { pass: false });
    expect((await label(2, { label: "pass" })).body).toMatchObject({
      data: [{}, {}],
      correction: { pass: false },
    });
    const shown = await call("GET", `/v1/evaluation-results/${results[1]?.id}`);
    expect(shown.body).toMatchObject({ labels: [{ label: "pass" }], evaluation_result: { pass: false } });
    expect((await label(1, { label: null })).body).toEqual({ data: [], correction: null });
    await label(2, { label: null });
    // A label's correction is removed with the label, even from beneath a person's own correction that is withdrawn later.
    await label(3, { label: "fail" });
    await call("POST", `/v1/evaluation-results/${results[3]?.id}/correction`, { pass: true });
    expect((await label(3, { label: "pass" })).body).toMatchObject({ correction: { pass: true } });
    await presage.call("DELETE", `/v1/evaluation-results/${results[3]?.id}/correction`);
    expect((await call("GET", `/v1/evaluation-results/${results[3]?.id}`)).body).toMatchObject({
      evaluation_result: { pass: true, correction: null },
    });
    await label(3, { label: null });
    await label(2, { label: null, annotator: "ada" });
    expect((await call("GET", `/v1/evaluation-results/${results[2]?.id}/labels`)).body.data).toEqual([]);
  });

  test("Labels are imported by result or by run and sample, and a wrong line stores none", async () => {
    const wrong = [
      { result_id: results[0]?.id, label: "pass", annotator: "eve" },
      { run_id: run.id, dataset_sample_id: "t0/99", label: "pass", annotator: "eve" },
      { result_id: 999_999, label: "pass", annotator: "eve" },
    ];
    expect(await upload(wrong)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "line", 2], ctx: { faults: 2 } }, { loc: ["body", "line", 3] }] },
    });
    expect((await upload([{ run_id: run.id, label: "pass" }])).body.detail[0].loc).toEqual([
      "body",
      "line",
      1,
    ]);
    expect((await upload([{ result_id: "1", label: "good" }])).body.detail[0]).toMatchObject({
      loc: ["body", "line", 1, "label"],
      msg: expect.stringContaining("Input should be 'pass', 'fail'"),
    });
    expect((await agreement()).agreement.count).toBe(0);
    const one = { run_id: run.id, dataset_sample_id: idOf(3), label: "fail", annotator: "ada" };
    expect((await upload([one])).body).toEqual({ labels: 2, taken_back: 0 });
    expect((await upload([{ ...one, evaluator: "exact-match", label: null }])).body).toEqual({
      labels: 0,
      taken_back: 1,
    });
    expect(await agreement()).toMatchObject({ counts: { only_evaluator: 1 }, agreement: { count: 1 } });
    expect((await agreement("&evaluator=exact-match")).agreement.count).toBe(0);
    await upload([{ ...one, label: null }]);
  });

  test("Two runs with labels are compared by the pass rates that people would give", async () => {
    const evaluators = run.evaluators.map((evaluator) => ({ evaluator }));
    const { dataset_id } = (await call("GET", `/v1/runs/${run.id}`)).body;
    const other = await create({ dataset_id, target: { predictions: "imported" }, evaluators });
    const lines = samples.map((_, index) => ({
      index,
      prediction: index % 2 === 0 ? `State, the: ${index + 1}` : "nothing",
    }));
    await call("POST", `/v1/runs/${other.id}/predictions`, toLines(lines));
    await end(other.id);
    const path = `/v1/comparisons?runs=${run.id},${other.id}`;
    const compare = async () => Comparison.parse((await call("GET", path)).body).evaluators;
    const correctedIn = async () => (await compare()).map(({ candidates }) => candidates[0]?.corrected);
    // Apart from equal outputs, people pass a quarter of the one run's outputs and a third of the other's.
    const labelsOf = (id: string, every: number) =>
      samples.map((_, index) => ({
        ...{ run_id: id, dataset_sample_id: idOf(index), evaluator: "token-f1", annotator: "ada" },
        label: index % every === 1 ? "pass" : "fail",
      }));
    const labels = [...labelsOf(run.id, 4), ...labelsOf(other.id, 3)];
    await upload(labels.slice(0, 40));
    expect(await correctedIn()).toEqual([undefined, undefined]);
    await upload(labels.slice(40));
    const [corrected, unlabelled] = await correctedIn();
    expect(corrected).toMatchObject({
      ...{ labels: { reference: 35, candidate: 40 }, note: expect.stringContaining("were not drawn") },
      difference: expect.closeTo(13 / 40 - (5 + 10) / 40, 12),
      raw: expect.closeTo(20 / 40 - 17 / 40, 12),
      interval: { level: 0.95, lower: expect.any(Number), upper: expect.any(Number) },
    });
    expect(unlabelled).toBeUndefined();
    const says =
      /Corrected by 35 human labels of the reference and 40 of the other run, the difference of the whole runs' pass rates is −5\.0 points, 95 % interval/;
    expect(await (await presage.call("GET", `${path}&format=md`)).text()).toMatch(says);
    const variables = { PRESAGE_API_KEY: key, PRESAGE_DATABASE_URL: presage.databaseUrl };
    const printed = await runPresage(["compare", run.id, other.id, "--server", presage.url], variables);
    expect(`${printed.stdout}${printed.stderr}`.replace(/\s+/g, " ")).toMatch(says);
    await upload(labels.map((line) => ({ ...line, label: null })));
  });

  test("A draw keeps its probabilities, leaves equal texts out, and its labels weigh the inverse", async () => {
    const path = `/v1/runs/${run.id}/label-sample`;
    const drawn = LabelSample.parse((await call("POST", path, { size: 12, seed: 3, by: "verdict" })).body);
    // 5 of 40 outputs equal the gold answer; 12 of the others pass.
    expect(drawn).toMatchObject({
      evaluator: expect.stringContaining("token-f1"),
      drawn_from: 35,
      left_out: 5,
    });
    const passes = new Map(results.map(({ id, pass }) => [id, pass]));
    const probabilities = drawn.data.map(
      ({ result_id, probability }) => [passes.get(result_id), probability] as const,
    );
    expect(probabilities.filter(([pass]) => pass)).toEqual(Array.from({ length: 6 }, () => [true, 6 / 12]));
    expect(probabilities.filter(([pass]) => !pass)).toEqual(Array.from({ length: 6 }, () => [false, 6 / 23]));
    await using opened = await openStore(presage.databaseUrl);
    const equal = opened.database.selectFrom("evaluation_results").where("run_id", "=", run.id);
    expect(await equal.where("is_equal", "=", 1).select("id").execute()).toHaveLength(
      5 * run.evaluators.length,
    );
    // For rows of an earlier version, the texts show whether they are equal.
    await opened.database.updateTable("evaluation_results").set({ is_equal: null }).execute();
    const again = await call("POST", path, { size: 12, seed: 3, by: "verdict" });
    expect(again.body.data).toEqual(drawn.data);

    // People pass everything that passes, and two outputs that fail.
    const fails = drawn.data.filter(({ result_id }) => !passes.get(result_id)).slice(0, 2);
    const isPassed = (id: string) => passes.get(id) || fails.some(({ result_id }) => result_id === id);
    const lines = drawn.data.map(({ result_id }) => ({
      ...{ result_id, annotator: "ada" },
      label: isPassed(result_id) ? "pass" : "fail",
    }));
    const other = results.find(({ id }) => !drawn.data.some(({ result_id }) => result_id === id))?.id;
    await upload(lines.filter(({ result_id }) => passes.get(result_id)));
    const ofPasses = RunReport.parse((await call("GET", `/v1/runs/${run.id}/report`)).body);
    expect(ofPasses.evaluators[0]?.corrected).toMatchObject({
      ...{ pass_rate: null, labels: 6, note: "No verdict that fails has a label." },
      sentence: "token-f1 says 43 %.",
    });
    await upload([...lines, { result_id: other, annotator: "ada", label: "pass" }]);
    // A client's result may name an experiment in addition to the run that it was drawn from.
    const [drawnOnce] = drawn.data;
    const name = (experiment_id: string | null) =>
      opened.database
        .updateTable("evaluation_results")
        .set({ experiment_id })
        .where("id", "=", Number(drawnOnce?.result_id))
        .execute();
    await name(Bun.randomUUIDv7());
    const found = await agreement();
    await name(null);
    // The second draw has the same seed and had to take the same results, so no result is any likelier to be drawn.
    expect(found.agreement.value).toBeCloseTo((6 * 2 + 4 * (23 / 6)) / (6 * (2 + 23 / 6)), 12);
    expect(found).toMatchObject({
      weighted: true,
      counts: { both_pass: 6, only_evaluator: 0, only_reference: 2, both_fail: 4 },
      precision: { value: 1 },
      note: expect.stringContaining("1 labelled verdict that was not drawn do"),
      annotators: [{ annotator: "ada", labels: 13 }],
    });
    const report = RunReport.parse((await call("GET", `/v1/runs/${run.id}/report`)).body);
    const [corrected, unlabelled] = report.evaluators.map((one) => one.corrected);
    // 35 of 40 outputs differ from their gold answers; 12 of them pass, 12 are labelled.
    const lambda = (6 / 12 - (8 / 12) * (6 / 12)) / ((1 + 12 / 23) * ((12 * (1 - 12 / 35)) / 34));
    // Weighting makes the passes among labels drawn by verdict as frequent as among all, whatever λ is.
    const ofDifferent = (6 * 2 + 2 * (23 / 6)) / 35;
    expect(corrected).toMatchObject({ labels: 12, drawn: true, raw: 17 / 40, note: null });
    expect(corrected?.lambda).toBeCloseTo(lambda, 9);
    expect(corrected?.pass_rate).toBeCloseTo((5 + 35 * ofDifferent) / 40, 9);
    expect(unlabelled).toBeUndefined();
    const says = /token-f1 says 43 %\. Corrected by 12 human labels it is 62 % \(\d\d to \d\d %\)\./;
    expect(corrected?.sentence).toMatch(says);
    const document = await presage.call("GET", `/v1/runs/${run.id}/report?format=md`);
    expect(await document.text()).toMatch(says);
    for (const place of [["--server", presage.url], []]) {
      const variables = { PRESAGE_API_KEY: key, PRESAGE_DATABASE_URL: presage.databaseUrl };
      const correct = (...words: string[]) => runPresage(["correct", run.id, ...words, ...place], variables);
      expect((await correct("--evaluator", "token-f1")).stdout).toMatch(says);
      expect(await correct("--evaluator", "exact-match")).toMatchObject({
        ...{ code: 1, stdout: "" },
        stderr: expect.stringContaining("Nobody has labelled a verdict of exact-match yet"),
      });
    }
    const listed = (await call("GET", `/v1/runs/${run.id}/label-samples`)).body.data;
    expect(listed).toHaveLength(2);
    expect(listed[0].data.every(({ labelled }: { labelled: boolean }) => labelled)).toBe(true);
    await upload(
      [...lines, { result_id: other, annotator: "ada" }].map((line) => ({ ...line, label: null })),
    );
  });

  test("Three people disagree: the majority is compared, α has all, and a tie decides nothing", async () => {
    const people = ["ada", "bo", "cy"];
    const lines = results.flatMap(({ id, pass }, index) =>
      people.map((annotator, place) => ({
        ...{ result_id: id, annotator },
        label: (index % 5 === place ? !pass : pass) ? "pass" : "fail",
      })),
    );
    await upload(
      lines.filter(({ result_id, annotator }) => result_id !== results[0]?.id || annotator !== "cy"),
    );
    const found = await agreement();
    expect(found).toMatchObject({
      weighted: true,
      annotators: [{ annotator: "ada" }, { annotator: "bo" }, { annotator: "cy" }],
    });
    expect(found.krippendorff_alpha.value).toBeGreaterThan(found.people_alpha.value ?? 1);
    const all = LabelAgreement.parse((await call("GET", "/v1/agreement?evaluator=token-f1")).body);
    expect({ ...all, profile_name: "x", sentence: "" }).toEqual({
      ...found,
      run_id: null,
      evaluator: "token-f1",
      profile_name: "x",
      sentence: "",
    });
    const most = LabelAgreement.parse((await call("GET", "/v1/agreement")).body);
    expect(most).toEqual({ ...found, run_id: null });
    await upload(lines.map((line) => ({ ...line, label: null })));
    const tied = { run_id: run.id, dataset_sample_id: idOf(1), evaluator: "exact-match" };
    const [ada, bo] = [
      { ...tied, annotator: "ada" },
      { ...tied, annotator: "bo" },
    ];
    await upload([
      { ...ada, label: "pass" },
      { ...bo, label: "fail" },
    ]);
    expect(await agreement("&evaluator=exact-match")).toMatchObject({
      undecided: 1,
      agreement: { count: 0 },
      sentence: "People are evenly divided on the only labelled verdict of exact-match.",
      note: expect.stringContaining("were not drawn at random"),
    });
    expect(await agreement("&evaluator=exact-match&profile_revision=2")).toMatchObject({
      ...{ undecided: 0, sentence: "Nobody has labelled a verdict of exact-match (revision 2) yet." },
    });
    await upload([
      { ...ada, label: null },
      { ...bo, label: null },
    ]);
  });

  test("However many draws came after it, the labels of a draw count", async () => {
    // More draws than a page of the list has, which is 100.
    const draws = isWholeRun ? 500 : 120;
    const draw = async (seed: number, evaluator: string) =>
      (await call("POST", `/v1/runs/${run.id}/label-sample`, { size: 1, seed, evaluator })).body.data[0];
    const { result_id } = await draw(10_000, "exact-match");
    const listed = async (query: string) =>
      (await call("GET", `/v1/runs/${run.id}/label-samples?${query}`)).body;
    for (let at = 0; at < draws; at += 20)
      await Promise.all(Array.from({ length: 20 }, (_, index) => draw(at + index, "token-f1")));
    await upload([{ result_id, annotator: "ada", label: "fail" }]);
    const found = LabelAgreement.parse((await call("GET", "/v1/agreement?evaluator=exact-match")).body);
    expect(found).toMatchObject({ weighted: true, agreement: { count: 1 } });
    const seen = new Set<string>();
    for (let after = ""; after !== null; ) {
      const { data, next } = await listed(`limit=100${after && `&after=${after}`}`);
      for (const { id } of data) seen.add(id);
      after = next;
    }
    expect(seen.size).toBeGreaterThan(draws);
    expect((await listed("limit=101")).detail[0].loc).toEqual(["query", "limit"]);
    await upload([{ result_id, annotator: "ada", label: null }]);
  });

  test("Two evaluators of a run are compared on all samples", async () => {
    const found = await agreement("&against=evaluator&other=exact-match");
    expect(found).toMatchObject({
      against: expect.stringContaining("exact-match"),
      counts: { both_pass: 5, only_evaluator: 12, only_reference: 0, both_fail: 23 },
      agreement: { value: 28 / 40, count: 40, trajectories: 10 },
      precision: { value: 5 / 17 },
    });
    expect(found.sentence).toContain("It passes 12 of the 35 that exact-match fails.");
  });

  test("The command line imports labels, and says what they show", async () => {
    const presageAt = (...words: string[]) =>
      runPresage([...words, "--server", presage.url], { PRESAGE_API_KEY: key });
    expect((await presageAt("label", results[1]?.id ?? "", "pass", "--annotator", "ada")).stdout).toContain(
      "labelled pass",
    );
    expect(await presageAt("label", results[1]?.id ?? "", "perhaps")).toMatchObject({ code: 1 });
    const file = join(tmpdir(), `labels-${run.id}`);
    await Bun.write(
      file,
      gzipSync(JSON.stringify({ result_id: results[1]?.id, annotator: "ada", label: "pass" })),
    );
    for (const option of [
      ["--annotator", "ada"],
      ["--by", "verdict"],
      ["--seed", "2"],
      ["--evaluator", "bleu"],
    ])
      expect([await presageAt("label", file, ...option), option]).toMatchObject([{ code: 1 }, option]);
    // The file is recognised whatever its name is.
    expect((await presageAt("label", file)).stdout).toBe("1 label stored.\n");
    await rm(file);
    const drawn = await presageAt("label", run.id, "--draw", "2", "--seed", "5");
    const lines = drawn.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.label)).toEqual(["", ""]);
    // The configured database draws the same, without a server.
    const onDatabase = ["label", run.id, "--draw", "2", "--seed", "5"];
    const variables = { PRESAGE_DATABASE_URL: presage.databaseUrl };
    expect((await runPresage(onDatabase, variables)).stdout).toBe(drawn.stdout);
    // A line that is not filled in leaves that person's earlier label.
    const [filled, empty] = lines;
    await upload([filled, empty].map((line) => ({ ...line, label: "fail" })));
    expect((await upload([{ ...filled, label: "pass" }, empty])).body).toEqual({ labels: 1, taken_back: 0 });
    const labelsOf = async ({ result_id }: { result_id: string }) =>
      (await call("GET", `/v1/evaluation-results/${result_id}/labels`)).body.data;
    expect(await labelsOf(filled)).toMatchObject([{ label: "pass" }]);
    expect(await labelsOf(empty)).toMatchObject([{ label: "fail" }]);
    await upload(lines.map((line) => ({ ...line, label: null })));
    const { stdout } = await presageAt("agree", run.id, "--against", "exact-match");
    expect(stdout).toMatch(/token-f1 agrees with exact-match on 70 % .* of \d+ predictions/);
    expect(stdout.split("\n").find((line) => line.startsWith("precision"))).toMatch(/0\.29 \(.* 17 /);
    for (const place of [["--server", presage.url], []]) {
      const none = await runPresage(["agree", run.id, "--evaluator", "judge", ...place], {
        ...variables,
        PRESAGE_API_KEY: key,
      });
      expect([none.code, none.stderr]).toEqual([
        1,
        expect.stringMatching(
          /evaluator: .*The run has no evaluator judge; it has token-f1-.*, exact-match-.*\n$/,
        ),
      ]);
      expect(none.stderr.trim().split("\n")).toHaveLength(1);
    }
    const json = await presageAt("agree", run.id, "--json");
    expect(LabelAgreement.parse(JSON.parse(json.stdout)).run_id).toBe(run.id);
    await label(1, { label: null, annotator: "ada" });
  });

  test("What cannot be compared, drawn or labelled is refused", async () => {
    const withoutRun = await call("GET", "/v1/agreement?against=evaluator");
    expect(withoutRun.body.detail[0].loc).toEqual(["query", "run"]);
    const unknown = await call("GET", `/v1/agreement?run=${run.id}&evaluator=bleu`);
    expect(unknown).toMatchObject({ status: 422, body: { detail: [{ loc: ["query", "evaluator"] }] } });
    expect((await call("GET", `/v1/agreement?run=${Bun.randomUUIDv7()}`)).status).toBe(404);
    const { dataset_id } = (await call("GET", `/v1/runs/${run.id}`)).body;
    const evaluators = [{ evaluator: "exact-match" }];
    const single = await create({ dataset_id, target: { baseline: "no-change" }, evaluators });
    const alone = await call("GET", `/v1/agreement?run=${single.id}&against=evaluator`);
    expect([alone.status, alone.body.detail[0].msg]).toEqual([
      422,
      expect.stringContaining("The run has no other evaluator; it has exact-match"),
    ]);
    const drawn = await call("POST", `/v1/runs/${run.id}/label-sample`, { size: 1, evaluator: "bleu" });
    expect(drawn).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "evaluator"] }] } });
    expect((await call("POST", `/v1/runs/${run.id}/label-sample`, { size: 0 })).status).toBe(422);
    const stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
    const path = `/v1/evaluation-results/${results[0]?.id}/labels`;
    expect((await presage.call("POST", path, { label: "pass" }, stranger)).status).toBe(404);
    expect((await presage.call("GET", path, undefined, stranger)).status).toBe(404);
  });
});
