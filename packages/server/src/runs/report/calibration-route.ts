import {
  type ConfidenceMethod,
  RunCalibration,
  RunCalibrationQuery,
  RunPath,
  World,
  type WorldCalibration,
  WorldCalibrationCard,
  WorldCalibrationRequest,
  WorldNamePath,
  WorldPath,
  type WorldScores,
} from "@presage/contract";
import { describeCoverage } from "@presage/contract/describe-runs";
import { findNamedDataset } from "../../datasets/datasets.ts";
import { errorResponse, noSuch, response } from "../../http/describe.ts";
import { reply, route } from "../../http/route.ts";
import { InvalidRequestError, valueError } from "../../http/validate.ts";
import type { Changer } from "../../platform/audit.ts";
import { conflict, ServiceError, undefinedIfGone } from "../../platform/errors.ts";
import { type CalibrationSample, fitCalibration } from "../../platform/statistics/calibration.ts";
import type { JudgedConfidences } from "../../platform/statistics/calibration-error.ts";
import { confidenceCard } from "../../platform/statistics/confidence.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester } from "../../platform/storage/store.ts";
import worldExamples from "../../worlds/examples.json" with { type: "json" };
import { findByReference, findWorld } from "../../worlds/find-world.ts";
import { toWorld, type WorldRevision } from "../../worlds/world.ts";
import { addCalibration, type WorldVerbServices } from "../../worlds/worlds.ts";
import examples from "../examples.json" with { type: "json" };
import {
  isPreliminary,
  predictionIndex,
  type Run,
  type RunDataset,
  samplesOfRevision,
  toEvaluatorNames,
} from "../run.ts";
import { externalTarget, ownEvaluatorNamed, withDataset } from "../run-samples.ts";
import { type FindNeeds, findRun, refuseDeleted } from "../runs.ts";
import { type Outcomes, outcome, readOutcomes } from "./outcomes.ts";
import { findWorldRun, readInRanges, selectConfidences, selectWorldScores } from "./outcomes-store.ts";
import { reportMemoryBytes } from "./report-run.ts";
import { isOfSplit, type RunSamples, readRunSamples } from "./samples.ts";

/** For the arrays that the card is computed from, in addition to those of the run's samples. */
const bytesPerPrediction = 150;

/** While samples are read and fitted: for each sample, and for each of its numbers. */
const bytesPerSample = 100;

const bytesPerNumber = 190;
type Services = WorldVerbServices & FindNeeds;

export const getCalibration = route("GET", "/v1/runs/:id/calibration", {
  needs: "read",
  id: "getRunCalibration",
  summary: "Whether a run's confidences may be trusted",
  description:
    "Compares the confidences of a run's predictions with an evaluator's verdicts: the Brier score, the calibration error, how well they tell right predictions from wrong ones, and the share that can be kept at a risk of 5 %. Intervals are clustered by trajectory. Each repeat of a sample is a prediction.",
  params: RunPath,
  query: RunCalibrationQuery,
  responses: {
    "200": response(
      "The figures; null if there are fewer than 50 predictions",
      RunCalibration,
      examples.calibration,
    ),
    ...noSuch("run"),
    ...externalTarget,
  },
  async handle(services: FindNeeds, { reserve, requester, params, query }) {
    return reply(200, await calibrationOf(services, requester, params.id, query, reserve));
  },
});

/** The response if a world has no figures. */
export const noRunOfWorld = {
  "404": errorResponse(
    "The account has no such world, or no run through it has finished",
    "No run through shop@3 has finished.",
  ),
};

export const getWorldCalibration = route("GET", "/v1/worlds/:name/calibration", {
  needs: "read",
  id: "getWorldCalibration",
  summary: "Whether a world's confidences may be trusted",
  description:
    "The same for the newest finished run through a world's revision, preferably one whose samples the world was not calibrated on.",
  params: WorldPath,
  query: RunCalibrationQuery,
  responses: {
    "200": response("The figures, and the run", WorldCalibrationCard, {
      ...examples.calibration,
      run_id: "019aa5f5-8d1e-7000-a1f0-1c2b3a4d5e6f",
    }),
    ...noRunOfWorld,
  },
  async handle(services: FindNeeds, { reserve, requester, params, query }) {
    const run_id = await findRunOfWorld(services, requester, params.name);
    return reply(200, { ...(await calibrationOf(services, requester, run_id, query, reserve)), run_id });
  },
});

const calibrateRoute = route("POST", "/v1/worlds/:name/calibrations", {
  needs: "evaluate",
  id: "calibrateWorld",
  summary: "Calibrate a world",
  description:
    "Fits the conversion of the methods' numbers into a confidence on a finished run of the world's latest revision, and adds a revision that differs only in this fit. A right answer is one that passes an evaluator of the run. Isotonic regression if there are at least 200 predictions in 20 trajectories, otherwise logistic regression; with several methods it weighs their logits. The run's samples should be neither examples nor test samples.",
  params: WorldNamePath,
  body: WorldCalibrationRequest,
  bodyExample: { run_id: "019aa5f5-8d1e-7000-a1f0-1c2b3a4d5e6f", split: "calibration" },
  responses: {
    "200": response("The calibrated revision", World, { ...worldExamples.world, revision: 2 }),
    "409": errorResponse(
      "The run has not finished, or the world was revised since",
      "The run is of shop@1, and the latest revision is 2.",
    ),
    "404": errorResponse("The account has no such world, or no such run", "There is no such world."),
  },
  async handle(services: Services, { reserve, requester, params: { name }, body }) {
    return reply(200, toWorld(await calibrateWorld(services, requester, name, body, reserve)));
  },
});

export const worldCalibrationRoutes = [calibrateRoute];

/** The id of the run that represents a world's revision. */
export async function findRunOfWorld(
  services: FindNeeds,
  requester: Requester,
  reference: string,
): Promise<string> {
  const { name, revision } = await findByReference(services, requester, reference);
  const reader = services.store.reader(requester);
  const id = await findWorldRun(reader, requester.accountId, { name, revision });
  if (id !== undefined) return id;
  throw new ServiceError("not_found", `No run through ${name}@${revision} has finished.`);
}

/** The card of a run's confidences, from its own rows as far as they exist. */
async function calibrationOf(
  services: FindNeeds,
  requester: Requester,
  id: string,
  query: RunCalibrationQuery,
  reserve: (bytes: number) => void,
): Promise<RunCalibration> {
  const { store } = services;
  const run = withDataset(await findRun(services, requester, id));
  const { own: evaluator, index } = ownEvaluatorNamed(run, query);
  reserve(reportMemoryBytes(run) + samplesOfRevision(run) * run.repeats * bytesPerPrediction);
  const reader = store.reader(requester);
  const samples = await readRunSamples(reader, run);
  const { of, values } = await readConfidences(reader, run, samples.count);
  const outcomes = await readOutcomes(reader, run, index, new Uint8Array(values.length));
  const fitted = await fittedOnItsSamples(services, requester, run);
  const isFitted = fitted?.split ? isOfSplit(samples, fitted.split) : () => false;
  const { judged, without, leftOut } = judgedConfidences(samples, values, outcomes, isFitted);
  const isFittedOnIt = fitted?.split === null;
  const card = await confidenceCard(judged);
  const coverage = describeCoverage(card.coverage_at_risk);
  await refuseDeleted({ store }, requester, [run]);
  return {
    ...toEvaluatorNames(evaluator),
    preliminary: isPreliminary(run),
    of,
    without_confidence: without,
    fitted_on_it: isFittedOnIt,
    left_out: leftOut,
    sentence: isFittedOnIt
      ? `Fitted on this dataset: ${coverage.slice(0, 1).toLowerCase()}${coverage.slice(1)}`
      : coverage,
    ...card,
  };
}

/** What the run's world was calibrated on, if that is a revision of the run's dataset. Shared samples are not checked. */
async function fittedOnItsSamples(
  services: FindNeeds,
  requester: Requester,
  { target, dataset }: Run & { dataset: RunDataset },
): Promise<WorldCalibration | undefined> {
  if (target.kind !== "world") return undefined;
  // The world may be deleted meanwhile.
  const world = await findWorld(services, requester, target).catch(undefinedIfGone);
  const calibration = world?.pinned.calibration;
  return calibration?.dataset_id === dataset.datasetId ? calibration : undefined;
}

/** Each prediction's confidence, or its score if none has a confidence, with the repeats of a sample together. NaN without one. */
async function readConfidences(
  reader: Database,
  { id, repeats }: Pick<Run, "id" | "repeats">,
  samples: number,
): Promise<{ of: RunCalibration["of"]; values: Float64Array }> {
  const scores = new Float64Array(samples * repeats).fill(Number.NaN);
  const confidences = scores.slice();
  let of: RunCalibration["of"] = "score";
  const read = readInRanges(samples, repeats, (range) => selectConfidences(reader, id, range));
  for await (const rows of read) {
    for (const row of rows) {
      const at = predictionIndex(row, repeats);
      scores[at] = row.score ?? Number.NaN;
      confidences[at] = row.confidence ?? Number.NaN;
      if (row.confidence !== null) of = "confidence";
    }
  }
  return { of, values: of === "confidence" ? confidences : scores };
}

/** The predictions that have a confidence and a verdict, how many have only a verdict, and how many are left out. */
function judgedConfidences(
  { trajectories }: RunSamples,
  values: Float64Array,
  { of, repeats }: Outcomes,
  isLeftOut: (index: number) => boolean,
): { judged: JudgedConfidences; without: number; leftOut: number } {
  const isJudged = (at: number) => of[at] === outcome.pass || of[at] === outcome.fail;
  const hasValue = (at: number) => !Number.isNaN(values[at]);
  const known = new Int32Array(values.length);
  let [count, without, leftOut] = [0, 0, 0];
  for (let at = 0; at < values.length; at++) {
    if (!isJudged(at)) continue;
    if (isLeftOut(Math.floor(at / repeats))) leftOut += 1;
    else if (hasValue(at)) known[count++] = at;
    else without += 1;
  }
  const all = known.subarray(0, count);
  const numbers = new Map<number, number>();
  const numberOf = (trajectory: number) => {
    const number = numbers.get(trajectory) ?? numbers.size;
    numbers.set(trajectory, number);
    return number;
  };
  const judged = {
    confidences: Float64Array.from(all, (at) => values[at] ?? 0),
    right: Uint8Array.from(all, (at) => (of[at] === outcome.pass ? 1 : 0)),
    trajectories: all.map((at) => numberOf(trajectories.of[Math.floor(at / repeats)] ?? 0)),
  };
  return { judged, without, leftOut };
}

/** Fits a world's confidences on a run of its latest revision, and adds the revision that contains them. */
async function calibrateWorld(
  services: Services,
  requester: Changer,
  name: string,
  { run_id, evaluator, ...request }: WorldCalibrationRequest,
  reserve: (bytes: number) => void,
): Promise<WorldRevision> {
  const world = await findWorld(services, requester, { name });
  const named = world.config.confidence?.calibration?.split;
  const split = request.split ?? named;
  if (named && split !== named) throw refused("split", `The world is to be calibrated on its split ${named}`);
  // The world's examples may come from the same dataset: a run leaves out each sample's own trajectory.
  if (split === "test") throw refused("split", "A world cannot be calibrated on the samples that test it");
  const run = await findCalibrationRun(services, requester, world, run_id);
  const right = { evaluator: evaluator ?? "exact-match" };
  const { own, index: evaluatorIndex } = ownEvaluatorNamed(run, right, { where: "body" });
  const methods = world.config.confidence?.methods ?? [];
  const bytesOfSample = bytesPerSample + methods.length * bytesPerNumber;
  reserve(reportMemoryBytes(run) + run.counts.samples * bytesOfSample);
  const reader = services.store.reader(requester);
  const samples = await readJudgedScores(reader, run, { evaluatorIndex, methods, split: split ?? undefined });
  const table = await fitCalibration(samples);
  if (table === undefined)
    throw refused(
      "run_id",
      `It has ${samples.length} judged predictions with the world's numbers; 50 are needed`,
    );
  const calibration: WorldCalibration = {
    run_id: run.id,
    dataset_id: run.dataset.datasetId,
    revision: run.dataset.revision,
    split: split ?? null,
    evaluator: own.id,
    methods,
    samples: samples.length,
    trajectories: new Set(samples.map(({ trajectory }) => trajectory)).size,
    table,
  };
  return await addCalibration(services, requester, world, calibration);
}

function refused(field: string, error: string): InvalidRequestError {
  return new InvalidRequestError([valueError(["body", field], error)]);
}

async function findCalibrationRun(
  services: Services,
  requester: Requester,
  { name, revision, config }: WorldRevision,
  id: string,
): Promise<Run & { dataset: RunDataset }> {
  if (!config.confidence) throw refused("run_id", "The world has no `confidence`: name its methods first");
  // The fit would otherwise use only the answers above the old threshold.
  if (config.confidence.min_confidence && config.confidence.below === "escalate")
    throw refused(
      "run_id",
      "The world escalates: calibrate a revision without `min_confidence` (revise --min-confidence none)",
    );
  const run = withDataset(await findRun(services, requester, id));
  const { target } = run;
  if (target.kind !== "world" || target.name !== name)
    throw refused("run_id", `It is not a run through the world ${name}`);
  if (target.revision !== revision)
    throw conflict(`The run is of ${name}@${target.revision}, and the latest revision is ${revision}.`);
  if (run.status !== "finished") throw conflict("The run has not finished.");
  await refuseOtherSamples(services, requester, config, run.dataset);
  return run;
}

/** Throws if the world's config names other samples for its calibration. */
async function refuseOtherSamples(
  services: Services,
  requester: Requester,
  { confidence }: WorldRevision["config"],
  run: RunDataset,
): Promise<void> {
  const named = confidence?.calibration;
  if (!named) return;
  const { dataset, revision = null } = named;
  const found = await findNamedDataset(services, requester, dataset);
  if (found?.id === run.datasetId && (revision === null || revision === run.revision)) return;
  const wanted = revision === null ? dataset : `revision ${revision} of ${dataset}`;
  throw refused("run_id", `The world is to be calibrated on ${wanted}, and the run is on other samples`);
}

/** The numbers of each prediction that has a verdict and all of the methods, and whether it is right. */
async function readJudgedScores(
  reader: Database,
  run: Run & { dataset: RunDataset },
  {
    evaluatorIndex,
    methods,
    split,
  }: { evaluatorIndex: number; methods: readonly ConfidenceMethod[]; split: string | undefined },
): Promise<CalibrationSample[]> {
  const { repeats } = run;
  const all = await readRunSamples(reader, run);
  const { count, trajectories } = all;
  const verdicts = await readOutcomes(reader, run, evaluatorIndex, new Uint8Array(count * repeats));
  const isWanted = split === undefined ? () => true : isOfSplit(all, split);
  const samples: CalibrationSample[] = [];
  for await (const rows of readInRanges(count, repeats, (range) =>
    selectWorldScores(reader, run.id, range),
  )) {
    for (const { position, repeat, scores } of rows) {
      const index = position - 1;
      const verdict = verdicts.of[index * repeats + repeat];
      const numbers = numbersOf(scores, methods);
      if (numbers === undefined || (verdict !== outcome.pass && verdict !== outcome.fail)) continue;
      if (!isWanted(index)) continue;
      const trajectory = trajectories.texts[trajectories.of[index] ?? 0] ?? "";
      samples.push({ scores: numbers, isRight: verdict === outcome.pass, trajectory });
    }
  }
  return samples;
}

function numbersOf(scores: WorldScores, methods: readonly ConfidenceMethod[]): number[] | undefined {
  const numbers = methods.map((method) => scores[method]).filter((one) => one !== undefined);
  return numbers.length === methods.length ? numbers : undefined;
}
