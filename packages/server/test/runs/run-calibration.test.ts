import { expect, test } from "bun:test";
import { RunCalibration, StoredPredictionDetail } from "@presage/contract";
import { createPresage } from "@presage/sdk";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient, toLines } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import {
  evaluatorNamed,
  type StoredPrediction,
  storeRevision,
  storeRun,
} from "../support/store/store-run.ts";

const key = "bootstrap-key-of-the-tests-0123456789";
/** In trajectories of four steps. The first of every three predictions is right. */
const samples = Array.from({ length: 80 }, (_, index) => ({
  trajectory_id: `t${Math.floor(index / 4)}`,
  step: index % 4,
  interaction: { state: `state ${index}`, action: "go on" },
  next_state: `state ${index + 1}`,
}));
const isRight = (index: number) => index % 3 === 0;

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const datasets = datasetClient(presage);
  const { create, end, samples: list, exported } = runClient(presage);

  async function calibration(id: string, query = ""): Promise<RunCalibration> {
    const response = await presage.call("GET", `/v1/runs/${id}/calibration${query}`);
    return RunCalibration.parse(await response.json());
  }

  async function refusal(path: string) {
    const response = await presage.call("GET", path);
    return { status: response.status, body: await response.json() };
  }

  async function upload(id: string, lines: readonly object[]) {
    const body = toLines(lines);
    const response = await presage.call("POST", `/v1/runs/${id}/predictions`, body, { "x-api-key": key });
    return { status: response.status, body: await response.json() };
  }

  async function newImported() {
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, samples);
    return await create({ dataset_id, target: { predictions: "imported" } });
  }

  async function store(predictions: readonly (readonly StoredPrediction[])[], more = {}) {
    await using opened = await openStore(presage.databaseUrl);
    const account = opened.owner.account_id;
    const revision = await storeRevision(
      opened.database,
      account,
      predictions.map((_, index) => ({ trajectory: `t${index % 8}`, step: Math.floor(index / 8) })),
    );
    return await storeRun(opened.database, account, revision, { predictions, ...more });
  }

  const judged = (pass: boolean) => ({ verdicts: [{ pass, score: pass ? 1 : 0 }] });

  test("an uploaded run's confidences are kept, exported, and compared with the verdicts", async () => {
    const { id } = await newImported();
    const lines = samples.slice(0, 75).map((sample, index) => ({
      index,
      prediction: isRight(index) ? sample.next_state : "wrong",
      ...(index < 70 ? { confidence: isRight(index) ? 0.9 : index % 3 === 1 ? 0.25 : 0 } : {}),
    }));
    expect(await upload(id, lines)).toMatchObject({ status: 200, body: { predictions: 75 } });
    await end(id);
    const found = await calibration(id);
    expect(found).toMatchObject({
      evaluator: expect.stringContaining("exact-match"),
      preliminary: false,
      of: "confidence",
      without_confidence: 5,
      sentence:
        "No confidence is high enough: even the surest answers may be wrong more than 5 % of the time.",
      auroc: { value: 1, count: 70, trajectories: 18 },
      coverage_at_risk: { value: 0, threshold: null, risk: 0.05 },
    });
    const brier = (24 * 0.1 ** 2 + 23 * 0.25 ** 2) / 70;
    expect(found.brier.value).toBeCloseTo(brier, 12);
    expect(found.ece.value).toBeCloseTo((24 * 0.1 + 23 * 0.25) / 70, 12);
    expect(found.reliability.map((bin) => [bin.count, bin.lower, bin.upper, bin.pass_rate])).toEqual([
      [23, 0, 0, 0],
      [23, 0.25, 0.25, 0],
      [24, 0.9, 0.9, 1],
    ]);
    expect(found.risk_coverage.map((point) => [point.threshold, point.risk])).toEqual([
      [0.9, 0],
      [0.25, 23 / 47],
      [0, 46 / 70],
    ]);
    const confidences = (await exported(id)).map(({ confidence }) => confidence);
    expect(confidences.slice(0, 4)).toEqual([0.9, 0.25, 0, 0.9]);
    expect(confidences.slice(70)).toEqual(Array(10).fill(null));
    const [first] = await list(id);
    const response = await presage.call("GET", `/v1/predictions/${first?.prediction.id}`);
    const shown = StoredPredictionDetail.parse(await response.json());
    expect([shown.score, shown.confidence]).toEqual([null, 0.9]);
    const client = createPresage({ baseUrl: presage.url, apiKey: key });
    expect(await client.runs.calibration(id, { evaluator: "exact-match" })).toEqual(found);
  });

  test("a line with a confidence outside of 0 and 1 is named, and nothing is kept", async () => {
    const { id } = await newImported();
    for (const confidence of [1.01, -0.1, "0.5"]) {
      const refused = await upload(id, [
        { index: 0, prediction: "x", confidence: 1 },
        { index: 1, prediction: "x", confidence },
      ]);
      expect(refused).toMatchObject({
        status: 422,
        body: {
          detail: [
            { loc: ["body", "line", 2, "confidence"], msg: expect.stringContaining("Input should be") },
          ],
        },
      });
    }
    expect(await upload(id, [{ index: 0, prediction: "x", confidence: 0 }])).toMatchObject({ status: 200 });
  });

  test("without a confidence the figures are of the scores, each repeat a prediction", async () => {
    const predictions = Array.from({ length: 40 }, (_, index) => [
      { ...judged(index % 2 === 0), score: 0.8 },
      { ...judged(true), score: 0.6 },
    ]);
    const id = await store(predictions, { repeats: 2 });
    const found = await calibration(id);
    expect(found).toMatchObject({ of: "score", without_confidence: 0, auroc: { count: 80, value: 1 / 6 } });
    expect(found.brier.interval).not.toBeNull();
    const one = await store([
      [{ ...judged(true), confidence: 0.5 }],
      ...predictions.map(([first]) => [first as StoredPrediction]),
    ]);
    expect(await calibration(one)).toMatchObject({
      of: "confidence",
      without_confidence: 40,
      brier: { value: null, count: 1, note: expect.stringContaining("the figures take 50") },
    });
  });

  test("a run without confidences has no figures; an evaluator is chosen by name", async () => {
    const both = evaluatorNamed("exact-match");
    const predictions = Array.from({ length: 60 }, (_, index) => [
      {
        verdicts: [
          { pass: true, score: 1 },
          { pass: index % 2 === 0, score: 0 },
        ],
        confidence: 0.5,
      },
    ]);
    const id = await store(predictions, { evaluators: [both, evaluatorNamed("json-match")] });
    expect(await calibration(id)).toMatchObject({
      evaluator: "exact-match",
      auroc: { value: null, note: "All predictions are right, so that none can be told from others." },
      ece: { value: 0.5 },
    });
    expect(await calibration(id, "?evaluator=json-match")).toMatchObject({
      evaluator: "json-match",
      auroc: { value: 0.5 },
      ece: { value: 0 },
    });
    const none = await store(predictions.map(() => [judged(true)]));
    expect(await calibration(none)).toMatchObject({
      of: "score",
      without_confidence: 60,
      brier: { value: null, interval: null, count: 0, trajectories: 0, effective_trajectories: null },
      risk_coverage: [],
    });
    expect(await refusal(`/v1/runs/${id}/calibration?evaluator=bleu`)).toMatchObject({
      status: 422,
      body: {
        detail: [
          {
            loc: ["query", "evaluator"],
            msg: expect.stringContaining("no evaluator bleu; it has exact-match="),
          },
        ],
      },
    });
    expect(await refusal(`/v1/runs/${Bun.randomUUIDv7()}/calibration`)).toMatchObject({ status: 404 });
  });
});
