import { RunCalibrationQuery, WorldCoverage, WorldPath } from "@presage/contract";
import { findRevision } from "../../datasets/datasets.ts";
import { response } from "../../http/describe.ts";
import { reply, route } from "../../http/route.ts";
import { undefinedIfGone } from "../../platform/errors.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester } from "../../platform/storage/store.ts";
import { recordsName } from "../../upstream/completion.ts";
import { findWorld } from "../../worlds/find-world.ts";
import examples from "../examples.json" with { type: "json" };
import { predictionIndex, type Run, type RunDataset, samplesOfRevision, toEvaluatorNames } from "../run.ts";
import { ownEvaluatorNamed, withDataset } from "../run-samples.ts";
import { selectSampleBeginnings } from "../run-samples-store.ts";
import { type FindNeeds, findRun, refuseDeleted } from "../runs.ts";
import { findRunOfWorld, noRunOfWorld } from "./calibration-route.ts";
import { type Outcomes, outcome, readOutcomes } from "./outcomes.ts";
import { readInRanges, selectStoredWorlds } from "./outcomes-store.ts";
import { reportMemoryBytes } from "./report-run.ts";
import { type RunSamples, readRunSamples } from "./samples.ts";

/** For the similarity of each prediction, and for each example that some predictions used. */
const bytesPerPrediction = 50;
const bytesPerExample = 300;
const mostActions = 50;
const mostExamples = 20;
const actionCharacters = 200;
/** An example that is chosen once or twice says nothing. */
const leastChosen = 3;

const getCoverage = route("GET", "/v1/worlds/:name/coverage", {
  needs: "read",
  id: "getWorldCoverage",
  summary: "How well a world's examples cover what it is asked",
  description:
    "For the newest finished run through a world's revision, preferably one that is neither leaky nor a pilot: how similar the nearest example was, by kind of action, and which examples wrong predictions used.",
  params: WorldPath,
  query: RunCalibrationQuery,
  responses: {
    "200": response("The figures, and the run", WorldCoverage, examples.coverage),
    ...noRunOfWorld,
  },
  async handle(services: FindNeeds, { reserve, requester, params, query }) {
    const id = await findRunOfWorld(services, requester, params.name);
    return reply(200, await coverageOf(services, requester, id, query, reserve));
  },
});

export const worldCoverageRoutes = [getCoverage];

/** How well the examples of a run's predictions supported them. */
async function coverageOf(
  services: FindNeeds,
  requester: Requester,
  id: string,
  query: RunCalibrationQuery,
  reserve: (bytes: number) => void,
): Promise<WorldCoverage> {
  const { store } = services;
  const run = withDataset(await findRun(services, requester, id));
  const { own: evaluator, index } = ownEvaluatorNamed(run, query);
  const predictions = samplesOfRevision(run) * run.repeats;
  // There are rarely more examples than predicted samples.
  reserve(reportMemoryBytes(run) + predictions * (bytesPerPrediction + bytesPerExample));
  const reader = store.reader(requester);
  const samples = await readRunSamples(reader, run);
  const outcomes = await readOutcomes(reader, run, index, new Uint8Array(samples.count * run.repeats));
  const { all, actions, misleading } = await countCoverage(reader, run, samples, outcomes);
  const named = await withActions(services, requester, run, misleading);
  await refuseDeleted({ store }, requester, [run]);
  const { nearest: _, ...counts } = toCounts(all);
  return { run_id: run.id, ...toEvaluatorNames(evaluator), ...counts, actions, misleading: named };
}

/** An example with the position of the sample that it misled. */
type Misleading = Omit<WorldCoverage["misleading"][number], "action" | "misled"> & {
  misled: { position: number; similarity: number } | undefined;
};

/** Adds the actions of the examples, and of the samples that they misled. */
async function withActions(
  services: FindNeeds,
  requester: Requester,
  { target, dataset }: Run & { dataset: RunDataset },
  misleading: readonly Misleading[],
): Promise<WorldCoverage["misleading"]> {
  const reader = services.store.reader(requester);
  const sample_id = misleading.map(({ dataset_sample_id }) => dataset_sample_id);
  const position = misleading.flatMap(({ misled }) => misled?.position ?? []);
  const revisionId = await findExamples(services, requester, target);
  const examples =
    revisionId === undefined
      ? []
      : await selectSampleBeginnings(reader, revisionId, { sample_id }, actionCharacters);
  const samples = await selectSampleBeginnings(reader, dataset.revisionId, { position }, actionCharacters);
  const actions = new Map(examples.map(({ sample_id, action }) => [sample_id, action]));
  const misled = new Map(
    samples.map(({ position, sample_id: dataset_sample_id, trajectory_id, step, action }) => [
      position,
      { dataset_sample_id, trajectory_id, step, action },
    ]),
  );
  return misleading.map((example) => ({
    ...example,
    action: actions.get(example.dataset_sample_id) ?? null,
    misled: misled.get(example.misled?.position ?? 0) ?? null,
  }));
}

/** The revision of the dataset that has a world's examples, if it still exists. */
async function findExamples(services: FindNeeds, requester: Requester, target: Run["target"]) {
  if (target.kind !== "world") return undefined;
  const world = await findWorld(services, requester, target).catch(undefinedIfGone);
  const pinned = world?.pinned.examples;
  if (!pinned) return undefined;
  const wanted = { id: pinned.dataset_id, number: pinned.revision };
  return (await findRevision(services, requester, wanted).catch(undefinedIfGone))?.id;
}

interface Group {
  predictions: number;
  /** The similarity of each prediction's nearest example, if it has one. */
  similarities: number[];
  judged: number;
  right: number;
}

const noGroup = (): Group => ({ predictions: 0, similarities: [], judged: 0, right: 0 });

async function countCoverage(
  reader: Database,
  { id, repeats }: Run,
  { count, verbs }: RunSamples,
  { of }: Outcomes,
): Promise<{ all: Group; actions: WorldCoverage["actions"]; misleading: Misleading[] }> {
  const all = noGroup();
  const byVerb = new Map<string | null, Group>();
  const examples = new Map<string, Misleading>();
  const read = readInRanges(count, repeats, (range) => selectStoredWorlds(reader, id, range));
  for await (const rows of read) {
    for (const { position, repeat, world } of rows) {
      if (world === undefined) continue;
      const verb = verbs.texts[verbs.of[position - 1] ?? -1] ?? null;
      const group = byVerb.get(verb) ?? noGroup();
      byVerb.set(verb, group);
      const found = of[predictionIndex({ position, repeat }, repeats)];
      const isRight = found === outcome.pass;
      const isJudged = isRight || found === outcome.fail;
      const [nearest] = world.examples;
      for (const one of [all, group]) {
        one.predictions += 1;
        if (nearest !== undefined) one.similarities.push(nearest.similarity);
        one.judged += isJudged ? 1 : 0;
        one.right += isRight ? 1 : 0;
      }
      if (!isJudged) continue;
      // The records answer with the nearest example.
      const leanedOn = world.answered_by === recordsName ? world.examples.slice(0, 1) : world.examples;
      for (const { dataset_sample_id = "", trajectory_id = "", similarity } of leanedOn) {
        const example = examples.get(dataset_sample_id) ?? {
          dataset_sample_id,
          trajectory_id,
          chosen: 0,
          wrong: 0,
          misled: undefined,
        };
        examples.set(dataset_sample_id, example);
        example.chosen += 1;
        if (isRight) continue;
        example.wrong += 1;
        if (similarity > (example.misled?.similarity ?? -1)) example.misled = { position, similarity };
      }
    }
  }
  const actions = [...byVerb].map(([verb, group]) => ({ verb, ...toCounts(group) }));
  const wrongShare = (all.judged - all.right) / Math.max(1, all.judged);
  const excess = ({ chosen, wrong }: { chosen: number; wrong: number }) => wrong - chosen * wrongShare;
  return {
    all,
    actions: actions
      .sort((a, b) => (a.nearest ?? -1) - (b.nearest ?? -1) || b.predictions - a.predictions)
      .slice(0, mostActions),
    misleading: [...examples.values()]
      .filter((example) => example.chosen >= leastChosen && excess(example) > 0)
      .sort((a, b) => excess(b) - excess(a))
      .slice(0, mostExamples),
  };
}

function toCounts({ predictions, similarities, judged, right }: Group) {
  const nearest = similarities.sort((a, b) => a - b)[Math.floor((similarities.length - 1) / 2)] ?? null;
  return { predictions, without_example: predictions - similarities.length, nearest, judged, right };
}
