import {
  type ConfidenceMethod,
  World,
  type WorldCalibration,
  WorldCalibrationRequest,
  WorldPath,
  type WorldScores,
} from "@presage/contract";
import { findNamedDataset } from "../datasets/datasets.ts";
import { errorResponse, response } from "../http/describe.ts";
import { reply, route } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import type { Changer } from "../platform/audit.ts";
import { conflict } from "../platform/errors.ts";
import { type CalibrationSample, fitCalibration } from "../platform/statistics/calibration.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester } from "../platform/storage/store.ts";
import examples from "../worlds/examples.json" with { type: "json" };
import { findWorld } from "../worlds/find-world.ts";
import type { WorldRevision } from "../worlds/world.ts";
import { addCalibration, type WorldVerbServices } from "../worlds/worlds.ts";
import { toWorld } from "../worlds/worlds-route.ts";
import { outcome, readOutcomes } from "./report/outcomes.ts";
import { readInRanges, selectWorldScores } from "./report/outcomes-store.ts";
import { reportMemoryBytes } from "./report/report-run.ts";
import { isOfSplit, readRunSamples } from "./report/samples.ts";
import type { Run, RunDataset } from "./run.ts";
import { ownEvaluatorNamed, withDataset } from "./run-samples.ts";
import { type FindNeeds, findRun } from "./runs.ts";

type Services = WorldVerbServices & FindNeeds;

const calibrateRoute = route("POST", "/v1/worlds/:name/calibrations", {
  needs: "evaluate",
  id: "calibrateWorld",
  summary: "Calibrate a world",
  description:
    "Fits on a finished run of the world's latest revision what makes a confidence of its methods' numbers, and adds a revision that differs in that alone. A right answer is one that passes an evaluator of the run. Isotonic regression if there are at least 200 predictions of 20 trajectories, otherwise logistic regression; of several methods it weighs their logits. The run should be of samples that are neither examples nor what is tested.",
  params: WorldPath,
  body: WorldCalibrationRequest,
  bodyExample: { run_id: "019aa5f5-8d1e-7000-a1f0-1c2b3a4d5e6f", split: "calibration" },
  responses: {
    "200": response("The calibrated revision", World, { ...examples.world, revision: 2 }),
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

/** While samples are read and fitted: of each, and of each of its numbers. */
const bytesPerSample = 100;
const bytesPerNumber = 190;

export const worldCalibrationRoutes = [calibrateRoute];

/** Fits a world's confidences on a run of its latest revision, and adds the revision that has them. */
async function calibrateWorld(
  services: Services,
  requester: Changer,
  name: string,
  { run_id, evaluator, ...request }: WorldCalibrationRequest,
  reserve: (bytes: number) => void,
): Promise<WorldRevision> {
  const world = await findWorld(services, requester, { name });
  const split = request.split ?? world.config.confidence?.calibration?.split;
  // Examples are no hindrance: a run leaves each sample's own trajectory out.
  if (split === "test") throw refused("split", "A world cannot be calibrated on the samples that test it");
  const run = await findCalibrationRun(services, requester, world, run_id);
  const named = { evaluator: evaluator ?? "exact-match" };
  const { own, index: place } = ownEvaluatorNamed(run, named, { where: "body" });
  const methods = world.config.confidence?.methods ?? [];
  const bytesOfSample = bytesPerSample + methods.length * bytesPerNumber;
  reserve(reportMemoryBytes(run) + run.counts.samples * bytesOfSample);
  const reader = services.store.reader(requester);
  const samples = await readJudgedScores(reader, run, { place, methods, split: split ?? undefined });
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
  // The others would be fitted on what is above the old threshold alone.
  if (config.confidence.min_confidence && config.confidence.below === "escalate")
    throw refused("run_id", "The world escalates: calibrate a revision without `min_confidence`");
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

/** Throws if the world names other samples to calibrate it on. */
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
    place,
    methods,
    split,
  }: { place: number; methods: readonly ConfidenceMethod[]; split: string | undefined },
): Promise<CalibrationSample[]> {
  const { repeats } = run;
  const all = await readRunSamples(reader, run);
  const { count, trajectories } = all;
  const verdicts = await readOutcomes(reader, run, place, new Uint8Array(count * repeats));
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
