import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { Comparison, RunReport } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient, toLines } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

const samples = [0, 1, 2].map((step) => ({
  trajectory_id: "t",
  step,
  interaction: { state: `state ${step}`, action: "go on" },
  next_state: `state ${step + 1}`,
}));

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const datasets = datasetClient(presage);
  const { create, end, read, samples: list, exported } = runClient(presage);

  async function newRun(more: Record<string, unknown> = {}) {
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, samples);
    return await create({ dataset_id, target: { predictions: "imported" }, ...more });
  }

  async function upload(id: string, body: string | Uint8Array, headers: Record<string, string> = {}) {
    const key = { "x-api-key": "bootstrap-key-of-the-tests-0123456789" };
    const response = await presage.call("POST", `/v1/runs/${id}/predictions`, body, { ...key, ...headers });
    return { status: response.status, body: await response.json() };
  }

  test("uploaded predictions are judged, whatever names their samples, and those that lack one count as failed", async () => {
    const { id } = await newRun();
    const lines = [
      { index: 1, prediction_raw: "state 2" },
      { dataset_sample_id: "t/0", prediction: "wrong", reasoning: "so\0" },
    ];
    expect(await upload(id, toLines(lines))).toEqual({ status: 200, body: { predictions: 2 } });
    expect(await end(id)).toMatchObject({
      status: "finished",
      progress: { samples: 3, predicted: 2, evaluated: 3, failed: 1 },
    });
    const found = await list(id);
    expect(found.map(({ prediction, verdicts }) => [prediction.error_category, verdicts[0]?.pass])).toEqual([
      [null, false],
      [null, true],
      ["missing", undefined],
    ]);
    expect(await upload(id, toLines(lines))).toMatchObject({ status: 409 });
  });

  test("what samples are grouped and compared by is there, whether a prediction was uploaded, failed or is missing", async () => {
    const first = await newRun();
    const lines = [
      { index: 0, prediction: "state 1" },
      { index: 1, prediction: null },
    ];
    await upload(first.id, toLines(lines));
    await end(first.id);
    const found = await list(first.id);
    expect(found.map(({ verb, changes }) => [verb, changes])).toEqual([
      ["go", 1],
      ["go", 1],
      ["go", 1],
    ]);
    const report = await (await presage.call("GET", `/v1/runs/${first.id}/report`)).json();
    expect(RunReport.parse(report).evaluators[0]?.strata.verb).toMatchObject([
      { key: "go", count: 1, failed: 2 },
    ]);

    // The same samples and one more, in another revision.
    await datasets.uploadNew(first.dataset_id ?? "", [...samples, { ...samples[0], trajectory_id: "u" }]);
    const second = await create({
      dataset_id: first.dataset_id,
      target: { predictions: "imported" },
    });
    await upload(second.id, toLines([{ dataset_sample_id: "t/0", prediction: "wrong" }]));
    await end(second.id);
    const comparison = await presage.call("GET", `/v1/comparisons?runs=${first.id},${second.id}`);
    const { runs, evaluators } = Comparison.parse(await comparison.json());
    expect(runs.map(({ left_out }) => left_out)).toEqual([0, 1]);
    expect(evaluators[0]?.candidates[0]).toMatchObject({ count: 1, difference: -1 });
  });

  test("the export of a run can be imported into another, compressed", async () => {
    const first = await newRun({ repeats: 2 });
    const lines = samples.flatMap(({ trajectory_id, step }) =>
      [0, 1].map((repeat) => ({
        trajectory_id,
        step,
        repeat,
        predicted: step === 1 ? null : `${step}${repeat}`,
      })),
    );
    await upload(first.id, toLines(lines));
    await end(first.id);
    const text = await (await presage.call("GET", `/v1/runs/${first.id}/export`)).text();
    const second = await create({
      dataset_id: first.dataset_id,
      target: { predictions: "imported" },
      repeats: 2,
    });
    expect(await upload(second.id, gzipSync(text), { "content-encoding": "gzip" })).toMatchObject({
      status: 200,
    });
    expect((await end(second.id)).progress).toEqual((await read(first.id)).progress);
    const predicted = async (id: string) => (await exported(id)).map(({ prediction }) => prediction);
    expect(await predicted(second.id)).toEqual(["00", "01", null, null, "20", "21"]);
    expect(await predicted(second.id)).toEqual(await predicted(first.id));
  });

  test("a wrong line is named, nothing of the upload is kept, and the next one may be right", async () => {
    const { id } = await newRun();
    const good = { dataset_sample_id: "t/0", prediction: "x" };
    const cases: [lines: string, place: (string | number)[]][] = [
      [`${JSON.stringify(good)}\nnot json\n`, ["line", 2]],
      [toLines([good, { dataset_sample_id: "t/1" }]), ["line", 2, "prediction"]],
      [toLines([good, { prediction: "x" }]), ["line", 2, "dataset_sample_id"]],
      [toLines([good, { dataset_sample_id: "none", prediction: "x" }]), ["line", 2, "dataset_sample_id"]],
      [toLines([good, { index: 3, prediction: "x" }]), ["line", 2, "dataset_sample_id"]],
      // The line is refused whatever other samples the file names.
      [toLines([good, { index: "0", prediction: "x" }]), ["line", 2, "dataset_sample_id"]],
      [toLines([good, good]), ["line", 2]],
      [toLines([good, { ...good, repeat: 1 }]), ["line", 2, "repeat"]],
      [toLines([good, { index: 1, prediction: 7 }]), ["line", 2, "prediction"]],
      ["\n\n", []],
    ];
    for (const [lines, place] of cases) {
      const { status, body } = await upload(id, lines);
      expect([lines, status, body]).toMatchObject([lines, 422, { detail: [{ loc: ["body", ...place] }] }]);
    }
    expect(await read(id)).toMatchObject({ status: "queued", progress: { predicted: 0, failed: 0 } });
    expect(await list(id)).toEqual([]);
    await upload(id, toLines([good]));
    expect((await end(id)).progress).toMatchObject({ predicted: 1, failed: 2 });
  });

  test("a line names its sample consistently: names that are of several samples, and half a pair that does not fit, are refused", async () => {
    const { id } = await newRun();
    const good = { dataset_sample_id: "t/0", prediction: "x" };
    const wrong = [
      { dataset_sample_id: "t/1", index: 2 },
      { dataset_sample_id: "t/1", trajectory_id: "t", step: 2 },
      { trajectory_id: "t", step: 1, index: 2 },
      { dataset_sample_id: "t/1", step: 2 },
      { index: 1, trajectory_id: "u" },
    ];
    for (const names of wrong) {
      const { status, body } = await upload(id, toLines([good, { ...names, prediction: "x" }]));
      expect([names, status, body]).toMatchObject([names, 422, { detail: [{ loc: ["body", "line", 2] }] }]);
    }
    const right = [
      { ...good, index: 0, step: 0 },
      { index: 1, dataset_sample_id: "t/1", trajectory_id: "t", step: 1, prediction: "y" },
      { index: 2, trajectory_id: "t", prediction: "z" },
    ];
    expect(await upload(id, toLines(right))).toEqual({ status: 200, body: { predictions: 3 } });
    await end(id);
    expect((await exported(id)).map(({ prediction }) => prediction)).toEqual(["x", "y", "z"]);
  });

  test("what a file of another script marks as no answer is none, and of lines with one index the first counts", async () => {
    const lines = [
      { index: 0, predicted: "ERROR: 500", expected: "state 1" },
      { index: 1, generated: "state 2", ground_truth: "state 2", skipped_overlong: true },
      { index: 2, prediction_raw: null, reference: "state 3" },
      { index: "2", prediction_raw: "state 3", reference: "state 3" },
      { index: 3, prediction: "ERROR is what the environment says", reference: "ERROR" },
    ];
    const dataset_id = await datasets.create();
    const warnings = ["1 line passed over: of lines with the same index the first counts."];
    expect(await datasets.uploadNew(dataset_id, lines)).toMatchObject({ samples: 4, warnings });
    const { id } = await create({ dataset_id, target: { predictions: "imported" } });
    expect(await upload(id, toLines(lines))).toEqual({ status: 200, body: { predictions: 4, warnings } });
    expect((await end(id)).progress).toMatchObject({ samples: 4, predicted: 1, evaluated: 4, failed: 3 });
    const found = (await list(id)).map(({ prediction }) => prediction.error_category);
    expect(found).toEqual(["error", "skipped", "error", null]);
  });

  test("a sample that an evaluator leaves out has a verdict of no kind, and is no failure", async () => {
    const dataset_id = await datasets.create();
    const next = ["...", "", "a door"];
    await datasets.uploadNew(
      dataset_id,
      samples.map((sample, step) => ({ ...sample, next_state: next[step] })),
    );
    const { id } = await create({
      dataset_id,
      mode: "free-running",
      target: { predictions: "imported" },
      evaluators: [{ evaluator: "rouge-l" }, { evaluator: "exact-match", profile_name: "system:mdlm-exact" }],
    });
    await upload(id, toLines([0, 1, 2].map((index) => ({ index, prediction: "a door" }))));
    expect((await end(id)).progress).toMatchObject({ samples: 3, predicted: 3, evaluated: 3, failed: 0 });
    const found = (await list(id)).map(({ verdicts }) =>
      verdicts.map(({ status, pass, score }) => [status, pass, score]),
    );
    const leftOut = ["not_applicable", null, null];
    const right = ["success", true, 1];
    expect(found as unknown).toEqual([
      [leftOut, ["success", false, 0]],
      [leftOut, leftOut],
      [right, right],
    ]);
  });

  test("a number names the sample with this id, if there is one, otherwise the sample at this place", async () => {
    const dataset_id = await datasets.create();
    const ids = ["2", "0", "other"];
    await datasets.uploadNew(
      dataset_id,
      samples.map((sample, index) => ({ ...sample, dataset_sample_id: ids[index] })),
    );
    const { id } = await create({ dataset_id, target: { predictions: "imported" } });
    const lines = [0, 1, 2].map((index) => ({ index, prediction: `of ${index}` }));
    // The id of the second sample is 0, and no id is 1, so that two lines name the second sample.
    expect(await upload(id, toLines(lines))).toMatchObject({ status: 422 });
    await upload(id, toLines([lines[0], lines[2]]));
    await end(id);
    expect((await exported(id)).map(({ prediction }) => prediction)).toEqual(["of 2", "of 0", null]);
  });

  test("a run that is paused and resumed before its predictions are there still waits for them", async () => {
    const { id } = await newRun();
    await presage.call("POST", `/v1/runs/${id}/pause`);
    await presage.call("POST", `/v1/runs/${id}/resume`);
    expect(await read(id)).toMatchObject({ status: "queued" });
    expect(await upload(id, toLines([{ index: 0, prediction: "x" }]))).toMatchObject({ status: 200 });
    expect((await end(id)).progress).toMatchObject({ predicted: 1, failed: 2 });
  });

  test("the samples have what reports group them by", async () => {
    const { id } = await newRun();
    await upload(id, toLines([0, 1, 2].map((index) => ({ index, prediction: "x" }))));
    await end(id);
    expect((await list(id)).map(({ verb, changes }) => [verb, changes])).toEqual([
      ["go", expect.any(Number)],
      ["go", expect.any(Number)],
      ["go", expect.any(Number)],
    ]);
  });

  test("a free-running trajectory is judged to its end, since all its predictions are there", async () => {
    const { id } = await newRun({ mode: "free-running" });
    await upload(
      id,
      toLines([
        { index: 0, prediction: "state 1" },
        { index: 1, prediction: null },
        { index: 2, prediction: "state 3" },
      ]),
    );
    expect((await end(id)).progress).toMatchObject({ samples: 3, predicted: 2, evaluated: 3, failed: 1 });
  });

  test("predictions are uploaded to imported runs only", async () => {
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, samples);
    const { id } = await create({ dataset_id, target: { baseline: "no-change" } });
    expect(await upload(id, toLines([{ index: 0, prediction: "x" }]))).toMatchObject({ status: 409 });
    expect(await upload("none", "{}")).toMatchObject({ status: 404 });
    const cancelled = await newRun();
    await presage.call("POST", `/v1/runs/${cancelled.id}/cancel`);
    expect(await upload(cancelled.id, toLines([{ index: 0, prediction: "x" }]))).toMatchObject({
      status: 409,
    });
  });
});
