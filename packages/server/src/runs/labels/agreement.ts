import { setImmediate as nextTurn } from "node:timers/promises";
import type { AgreementOfLabelsQuery, LabelAgreement } from "@presage/contract";
import { familyOf } from "@presage/contract/describe-runs";
import { toExternalName } from "../../evaluators/outcome.ts";
import { InvalidRequestError, missing } from "../../http/validate.ts";
import {
  createPairs,
  krippendorffAlpha,
  type PairAgreement,
  pairAgreement,
  type RatedThing,
} from "../../platform/statistics/agreement.ts";
import type { ClusteredFigure } from "../../platform/statistics/intervals.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester } from "../../platform/storage/store.ts";
import { countOf, wholePercent } from "../../platform/words.ts";
import { nameOf } from "../../results/labels/labels.ts";
import {
  countLabels,
  type LabelledVerdict,
  selectLabelledVerdicts,
  selectMostLabelled,
  storedEvaluator,
  type VerdictsOf,
} from "../../results/labels/labels-store.ts";
import { outcome, readOutcomes } from "../report/outcomes.ts";
import { reportMemoryBytes } from "../report/report-run.ts";
import { readRunSamples } from "../report/samples.ts";
import type { Run, RunDataset } from "../run.ts";
import { evaluatorNamed, type FoundEvaluator, withDataset } from "../run-samples.ts";
import { type FindNeeds, findRun } from "../runs.ts";
import { weightsOf } from "./corrected.ts";

/** Takes some milliseconds of the main thread, before other work gets its turn. There may be a million. */
const predictionsAtOnce = 50_000;
/** For a label and what it is compared with. */
const bytesPerLabel = 600;

/** How far an evaluator agrees with people, or with another evaluator of its run. */
export async function agreementOf(
  services: FindNeeds,
  requester: Requester,
  { run: runId, evaluator, profile_name, against = "human", ...other }: AgreementOfLabelsQuery,
  reserve: (bytes: number) => void,
): Promise<LabelAgreement> {
  if (runId === undefined && against === "evaluator")
    throw new InvalidRequestError([missing(["query", "run"], {})]);
  const run = runId === undefined ? undefined : await findRun(services, requester, runId);
  const reader = services.store.reader(requester);
  const named = { evaluator, profile_name };
  const first =
    run === undefined
      ? {
          profile_name: profile_name ?? null,
          ...(evaluator === undefined ? await mostLabelled(reader, requester) : { evaluator }),
          index: 0,
        }
      : evaluatorNamed(run, named);
  if (against === "human" || run === undefined) {
    reserve((await countLabels(reader, requester.accountId)) * bytesPerLabel);
    const { profile_id: profileId, profile_revision: revision } = other;
    const profileRevision = revision === undefined ? undefined : Number(revision);
    return await againstPeople(reader, requester, run, { ...first, profileId, profileRevision });
  }
  const second = evaluatorNamed(
    run,
    { evaluator: other.other, profile_name: other.other_profile_name },
    { field: "other", except: first },
  );
  reserve(reportMemoryBytes(run));
  return await againstEvaluator(reader, withDataset(run), first, second);
}

async function mostLabelled(
  reader: Database,
  { accountId }: Requester,
): Promise<Pick<FoundEvaluator, "evaluator" | "profile_name">> {
  const found = await selectMostLabelled(reader, accountId);
  if (found === undefined) return { evaluator: "", profile_name: null };
  const { evaluator_id: id, is_external, profile_name } = found;
  return { evaluator: is_external === 1 ? toExternalName(id) : id, profile_name };
}

type Reference = Pick<LabelAgreement, "annotators" | "undecided" | "weighted"> & {
  krippendorff_alpha: ClusteredFigure;
  people_alpha: ClusteredFigure;
};

async function againstPeople(
  reader: Database,
  { accountId }: Requester,
  run: Run | undefined,
  of: FoundEvaluator & Pick<VerdictsOf, "profileId" | "profileRevision">,
): Promise<LabelAgreement> {
  const { profile_name: profileName, profileId, profileRevision } = of;
  const ofProfile = { profileName, profileId, profileRevision };
  const wanted = { runId: run?.id, ...storedEvaluator(of.evaluator), ...ofProfile };
  const labelled = await selectLabelledVerdicts(reader, accountId, wanted);
  const byResult = [...Map.groupBy(labelled, ({ result_id }) => result_id).values()];
  const weights = (await weightsOf(reader, accountId, labelled, run?.id))?.weights;
  const pairs = createPairs();
  const all: RatedThing[] = [];
  const people: RatedThing[] = [];
  let [undecided, counted] = [0, 0];
  for (const labels of byResult) {
    const [one] = labels;
    const weight = weights === undefined ? 1 : weights.get(one?.result_id ?? 0);
    if (one === undefined || weight === undefined) continue;
    counted += 1;
    // A result that names neither trajectory nor sample is independent of all others.
    const cluster = one.cluster_id ?? `result ${one.result_id}`;
    const passes = labels.filter(({ label_pass }) => label_pass === 1).length;
    const fails = labels.length - passes;
    const isPass = one.verdict_pass === 1;
    people.push({ cluster, passes, fails, weight });
    all.push({ cluster, passes: passes + Number(isPass), fails: fails + Number(!isPass), weight });
    if (passes === fails) undecided += 1;
    else pairs.add(cluster, { first: isPass, second: passes > fails }, weight);
  }
  const agreement = pairAgreement(pairs.end(), weights !== undefined);
  const reference = {
    weighted: weights !== undefined,
    undecided,
    annotators: annotatorsOf(labelled),
    krippendorff_alpha: krippendorffAlpha(all),
    people_alpha: alphaOfPeople(people),
  };
  const notes = notesOn(agreement, { ...reference, left: byResult.length - counted });
  return toAgreement(run, of, "human", agreement, reference, notes);
}

/** A single person cannot agree with anyone. */
function alphaOfPeople(people: readonly RatedThing[]): ClusteredFigure {
  const figure = krippendorffAlpha(people);
  if (figure.count > 0) return figure;
  return { ...figure, note: "No verdict has the labels of two people." };
}

function annotatorsOf(labelled: readonly LabelledVerdict[]): LabelAgreement["annotators"] {
  const byPerson = Map.groupBy(labelled, (label) => JSON.stringify([label.user_id, label.annotator]));
  return [...byPerson.values()].map((labels) => ({
    annotator: labels[0] === undefined ? "" : nameOf(labels[0]),
    labels: labels.length,
    agreed: labels.filter(({ label_pass, verdict_pass }) => label_pass === verdict_pass).length,
  }));
}

/** From a run's own verdicts: all predictions on which both evaluators have a verdict. */
async function againstEvaluator(
  reader: Database,
  run: Run & { dataset: RunDataset },
  first: FoundEvaluator,
  second: FoundEvaluator,
): Promise<LabelAgreement> {
  const { trajectories, count } = await readRunSamples(reader, run);
  const failed = new Uint8Array(count * run.repeats);
  const one = await readOutcomes(reader, run, first.index, failed);
  const other = await readOutcomes(reader, run, second.index, failed);
  const isVerdict = (of: number | undefined) => of === outcome.pass || of === outcome.fail;
  const pairs = createPairs();
  for (let at = 0; at < failed.length; at++) {
    if (at % predictionsAtOnce === 0) await nextTurn();
    if (!isVerdict(one.of[at]) || !isVerdict(other.of[at])) continue;
    const pair = { first: one.of[at] === outcome.pass, second: other.of[at] === outcome.pass };
    pairs.add(trajectories.of[Math.floor(at / run.repeats)] ?? 0, pair);
  }
  const agreement = pairAgreement(pairs.end(), false);
  const reference = {
    weighted: false,
    undecided: 0,
    annotators: [],
    krippendorff_alpha: krippendorffAlpha(pairs.things()),
    people_alpha: { ...krippendorffAlpha([]), note: "No people's labels are compared." },
  };
  const notes = notesOn(agreement, undefined);
  return toAgreement(run, first, second.evaluator, agreement, reference, notes);
}

function toAgreement(
  run: Run | undefined,
  { evaluator, profile_name, profileRevision }: FoundEvaluator & Pick<VerdictsOf, "profileRevision">,
  against: string,
  { counts, ...figures }: PairAgreement,
  reference: Reference,
  notes: readonly string[],
): LabelAgreement {
  return {
    run_id: run?.id ?? null,
    evaluator: evaluator === "" ? null : evaluator,
    profile_name,
    against,
    sentence: describeAgreement(
      { counts, ...figures },
      { evaluatorId: evaluator, revision: profileRevision, otherId: against, ...reference },
    ),
    note: notes.length === 0 ? null : notes.join(" "),
    counts: {
      both_pass: counts.bothPass,
      only_evaluator: counts.onlyFirst,
      only_reference: counts.onlySecond,
      both_fail: counts.bothFail,
    },
    ...figures,
    ...reference,
  };
}

/** With fewer labels, a figure is mostly chance. */
const fewLabels = 20;

/** The figures in a sentence. */
function describeAgreement(
  { counts, agreement, cohen_kappa, specificity }: PairAgreement,
  {
    evaluatorId,
    revision,
    otherId,
    weighted,
    undecided,
  }: Pick<Reference, "weighted" | "undecided"> & {
    evaluatorId: string;
    revision: number | undefined;
    otherId: string;
  },
): string {
  const evaluator = `${familyOf(evaluatorId)}${revision === undefined ? "" : ` (revision ${revision})`}`;
  const against = familyOf(otherId);
  const isOfPeople = against === "human";
  const reference = isOfPeople ? "people" : against;
  if (undecided > 0 && agreement.value === null) {
    const all = undecided === 1 ? "the only labelled verdict" : `all ${undecided} labelled verdicts`;
    return `People are evenly divided on ${all} of ${evaluator}.`;
  }
  if (agreement.value === null)
    return isOfPeople
      ? `Nobody has labelled a verdict${evaluator === "" ? "" : ` of ${evaluator}`} yet.`
      : `${evaluator} and ${against} have no sample in common that both gave a verdict on.`;
  const judged = countOf(agreement.count, isOfPeople ? "verdict" : "prediction");
  const beyond =
    cohen_kappa.value === null ? "" : `; beyond chance κ = ${withInterval(cohen_kappa, (x) => x.toFixed(2))}`;
  const share = withInterval(agreement, wholePercent);
  const whoFails = isOfPeople ? "people fail" : `${against} fails`;
  // Counts without weights would be misleading.
  const passed = weighted ? describeShare(specificity, whoFails) : describePassed(counts, whoFails);
  return `${evaluator} agrees with ${reference} on ${share} of ${judged}${beyond}. ${passed}`;
}

function describeShare({ value }: Pick<ClusteredFigure, "value">, whoFails: string): string {
  return value === null
    ? `There is none that ${whoFails}.`
    : `It passes ${Math.round(100 * (1 - value))} % of what ${whoFails}.`;
}

function describePassed({ onlyFirst: passed, bothFail }: PairAgreement["counts"], whoFails: string): string {
  const failed = passed + bothFail;
  if (failed === 0) return `There is none that ${whoFails}.`;
  if (passed === 0) return `It passes none of the ${failed} that ${whoFails}.`;
  return `It passes ${passed} of the ${failed} that ${whoFails}.`;
}

function withInterval(
  { value, interval }: Pick<ClusteredFigure, "value" | "interval">,
  format: (value: number) => string,
): string {
  const shown = format(value ?? 0);
  return interval === null ? shown : `${shown} (${format(interval.lower)} to ${format(interval.upper)})`;
}

/** Caveats of the figures. `of`: for people's labels, whether only drawn ones count, and how many others there are. */
function notesOn(
  { agreement }: PairAgreement,
  of: { weighted: boolean; undecided: number; left: number } | undefined,
): string[] {
  const { count, note } = agreement;
  if (count + (of?.undecided ?? 0) === 0) return [];
  return [
    ...(note === null ? [] : [note]),
    ...(of !== undefined && count < fewLabels
      ? [`With fewer than ${fewLabels} labels the figures may still change much.`]
      : []),
    ...(of?.weighted === false
      ? ["The verdicts were not drawn at random, so that the figures are about these alone."]
      : []),
    ...(of?.weighted
      ? [
          "Of drawn verdicts, each weighted by the inverse of its probability; outputs that equal their gold answers were not drawn.",
        ]
      : []),
    ...(of !== undefined && of.left > 0
      ? [
          `${of.left} labelled ${of.left === 1 ? "verdict that was" : "verdicts that were"} not drawn do not count.`,
        ]
      : []),
  ];
}
