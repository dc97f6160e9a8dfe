import {
  RunCalibration,
  RunCalibrationQuery,
  RunPath,
  type WorldCalibration,
  WorldCalibrationCard,
  WorldPath,
} from "@presage/contract";
import { describeCoverage } from "@presage/contract/describe-runs";
import { errorResponse, noSuch, response } from "../../http/describe.ts";
import { reply, route } from "../../http/route.ts";
import { ServiceError, undefinedIfGone } from "../../platform/errors.ts";
import type { JudgedConfidences } from "../../platform/statistics/calibration-error.ts";
import { confidenceCard } from "../../platform/statistics/confidence.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester } from "../../platform/storage/store.ts";
import { findWorld } from "../../worlds/find-world.ts";
import { findByReference } from "../../worlds/worlds-route.ts";
import examples from "../examples.json" with { type: "json" };
import { isPreliminary, type Run, type RunDataset, samplesOfRevision, toEvaluatorNames } from "../run.ts";
import { externalTarget, ownEvaluatorNamed, withDataset } from "../run-samples.ts";
import { type FindNeeds, findRun, refuseDeleted } from "../runs.ts";
import { type Outcomes, outcome, readOutcomes } from "./outcomes.ts";
import { findWorldRun, readInRanges, selectConfidences } from "./outcomes-store.ts";
import { reportMemoryBytes } from "./report-run.ts";
import { isOfSplit, type RunSamples, readRunSamples } from "./samples.ts";

/** Of the arrays that the card is made of, beside those of the run's samples. */
const bytesPerPrediction = 150;

export const getCalibration = route("GET", "/v1/runs/:id/calibration", {
  needs: "read",
  id: "getRunCalibration",
  summary: "Whether a run's confidences may be trusted",
  description:
    "Compares the confidences of a run's predictions with an evaluator's verdicts: the Brier score, the calibration error, how well right ones are told from wrong ones, and the share that can be kept at a risk of 5 %. Intervals are clustered by trajectory. Each repeat of a sample is a prediction.",
  params: RunPath,
  query: RunCalibrationQuery,
  responses: {
    "200": response(
      "The figures; null where there are fewer than 50 predictions",
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

/** What a world's figures are refused with. */
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
    "The same of the newest finished run through a world's revision: of one whose samples the world was not calibrated on, if there is such a run.",
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

/** The id of the run that speaks for a world's revision. */
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

/** The card of a run's confidences, from its own rows, of as much as there is. */
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
      ? `Fitted on these samples: ${coverage.slice(0, 1).toLowerCase()}${coverage.slice(1)}`
      : coverage,
    ...card,
  };
}

/** What the run's world was calibrated on, if that is the run's own revision of its dataset. */
async function fittedOnItsSamples(
  services: FindNeeds,
  requester: Requester,
  { target, dataset }: Run & { dataset: RunDataset },
): Promise<WorldCalibration | undefined> {
  if (target.kind !== "world") return undefined;
  // The world may be deleted meanwhile.
  const world = await findWorld(services, requester, target).catch(undefinedIfGone);
  const calibration = world?.pinned.calibration;
  const isOwn = calibration?.dataset_id === dataset.datasetId && calibration.revision === dataset.revision;
  return isOwn ? (calibration ?? undefined) : undefined;
}

/** Each prediction's confidence, those of a sample together; its score, if none has a confidence. NaN without one. */
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
    for (const { position, repeat, score, confidence } of rows) {
      const at = (position - 1) * repeats + repeat;
      scores[at] = score ?? Number.NaN;
      confidences[at] = confidence ?? Number.NaN;
      if (confidence !== null) of = "confidence";
    }
  }
  return { of, values: of === "confidence" ? confidences : scores };
}

/** The predictions that have a confidence and a verdict, how many have the verdict alone, and how many are left out. */
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
