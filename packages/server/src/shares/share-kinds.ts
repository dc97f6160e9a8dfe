import type { Comparison, ShareKind } from "@presage/contract";
import { evaluatorName } from "@presage/contract/describe-runs";
import type { Exchange } from "../http/exchange.ts";
import { reserveBytes } from "../platform/limits/memory.ts";
import { selectNames } from "../platform/storage/rows.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { findCheck } from "../reality/checks.ts";
import { describeCheck, realityDocument } from "../reality/show-check.ts";
import { listComparedSamples, makeComparison } from "../runs/compare/compare-route.ts";
import { comparisonDocument, comparisonTitle } from "../runs/compare/comparison-document.ts";
import { reportDocument } from "../runs/report/document.ts";
import { block, dayOf, heading, paragraph, type ReportPart } from "../runs/report/pages.ts";
import { makeReport, type ReportServices } from "../runs/report/report-route.ts";
import { isClientRun, type Run } from "../runs/run.ts";
import { listRunSamples } from "../runs/run-samples.ts";
import { datasetOrder } from "../runs/run-samples-store.ts";
import { type FindNeeds, findRun } from "../runs/runs.ts";
import { type ResultTexts, type StoredShare, selectResultTexts } from "./shares-store.ts";

export type PageServices = ReportServices & { store: Store };

/** A page for people who are not signed in. */
interface Shown {
  title: string;
  /** A sentence that says when the run ended. */
  ended?: string | undefined;
  parts: readonly ReportPart[];
}

interface Showing {
  services: PageServices;
  exchange: Exchange;
  requester: Requester;
  share: StoredShare;
}

/** A kind of thing that can be shared: which ids name it, whether it exists, and what a link to it shows. */
interface KindOfShare {
  /** Says what is wrong with the number of ids. */
  idsIssue(ids: readonly string[]): string | undefined;
  /** The ids as they are stored. Throws `not_found` if the account has nothing with them. */
  find(services: FindNeeds, requester: Requester, ids: readonly string[]): Promise<string[]>;
  show(showing: Showing): Promise<Shown>;
}

export const shareKinds: Record<ShareKind, KindOfShare> = {
  run: {
    idsIssue: ({ length }) => (length > 1 ? "a run has one id" : undefined),
    find: findRuns,
    async show({ services, exchange, requester, share }) {
      const { run, report } = await makeReport(services, exchange, requester, share.object);
      const withTexts = share.with_texts === 1;
      const { dataset_id: datasetId } = report.run;
      const dataset = (await namesOf(services, requester, [datasetId])).get(datasetId ?? "");
      const samples = withTexts ? await failingSamples(services, requester, run) : [];
      const parts = [...reportDocument(report, { dataset, withTexts }), ...samples];
      const { finished_at: end } = report.run;
      return {
        title: [`Run ${run.name}`, ...(dataset === undefined ? [] : [dataset])].join(", "),
        ended: end === null ? undefined : `The run ended on ${dayOf(end)}.`,
        parts,
      };
    },
  },
  comparison: {
    idsIssue: (ids) =>
      ids.length < 2 || new Set(ids).size < ids.length
        ? "a comparison has two different ids or more"
        : undefined,
    find: findRuns,
    async show({ services, exchange, requester, share }) {
      const { runs, comparison } = await makeComparison(services, exchange, requester, share.object);
      const datasetIds = comparison.runs.map(({ dataset_id }) => dataset_id);
      const names = await namesOf(services, requester, datasetIds);
      const withTexts = share.with_texts === 1;
      const samples = withTexts ? await worseSamples(services, requester, runs, comparison) : [];
      const parts = [...comparisonDocument(comparison, names), ...samples];
      return { title: comparisonTitle(runs), parts };
    },
  },
  "reality-check": {
    idsIssue: ({ length }) => (length > 1 ? "a reality check has one id" : undefined),
    find: async (services, requester, [id = ""]) => [(await findCheck(services, requester, id)).id],
    async show({ services, exchange, requester, share }) {
      const reserve = (bytes: number) => reserveBytes(exchange, bytes);
      const check = await describeCheck(services, requester, share.object, reserve);
      const parts = realityDocument(check, { withTexts: share.with_texts === 1 });
      return { title: `Reality check ${check.name}`, parts };
    },
  },
};

async function findRuns(services: FindNeeds, requester: Requester, ids: readonly string[]) {
  const found: string[] = [];
  for (const id of ids) found.push((await findRun(services, requester, id)).id);
  return found;
}

function namesOf({ store }: PageServices, requester: Requester, ids: readonly (string | null)[]) {
  return selectNames(store.briefReader(requester), requester.accountId, ids);
}

/** No more than a reader would look at. */
const mostSamples = 10;
/** The most characters shown of each text. */
const mostCharacters = 4_000;

/** The first samples that fail by the run's first evaluator, with their texts. */
async function failingSamples(services: FindNeeds, requester: Requester, run: Run): Promise<ReportPart[]> {
  const [evaluator] = run.evaluators;
  if (isClientRun(run) || evaluator === undefined) return [];
  const page = { ...datasetOrder, limit: mostSamples, after: undefined };
  const filter = { evaluator: 0, pass: false };
  const { samples, next } = await listRunSamples(services, requester, run, filter, page);
  const idOf = ({ verdicts }: (typeof samples)[number]) => verdicts[0]?.evaluation_result_id ?? "";
  const texts = await textsOf(services, requester, samples.map(idOf));
  const name = evaluatorName({ evaluator: evaluator.id, profile_name: evaluator.profile.name });
  const parts = samples.flatMap((sample) => [
    heading(3, `${sample.trajectory_id}, step ${sample.step}`),
    ...sampleParts(texts.get(idOf(sample)), "Predicted"),
  ]);
  return section(`Samples that do not pass ${name}`, parts, next !== undefined);
}

/** The samples that the first candidate does worse on than the reference, by the first evaluator of both, with their texts. */
async function worseSamples(
  services: FindNeeds,
  requester: Requester,
  [reference, candidate]: readonly Run[],
  { evaluators }: Comparison,
): Promise<ReportPart[]> {
  const [evaluator] = evaluators;
  if (reference === undefined || candidate === undefined || evaluator === undefined) return [];
  if (isClientRun(reference) || isClientRun(candidate)) return [];
  const wanted = {
    reference,
    candidate,
    evaluator: evaluator.evaluator,
    profileName: evaluator.profile_name ?? undefined,
    direction: "worse" as const,
  };
  const page = { limit: mostSamples, after: undefined };
  const { samples, next } = await listComparedSamples(services, requester, wanted, page);
  const idsOf = ({ reference_result_id, candidate_result_id }: (typeof samples)[number]) =>
    [reference_result_id, candidate_result_id].map((id) => (id === null ? "" : String(id)));
  const texts = await textsOf(services, requester, samples.flatMap(idsOf));
  const parts = samples.flatMap((sample) => {
    const [before = "", after = ""] = idsOf(sample);
    const { output = null } = texts.get(after) ?? {};
    return [
      heading(3, `${sample.trajectory_id}, step ${sample.step}`),
      ...sampleParts(texts.get(before), `Predicted by ${reference.name}`),
      ...labelled(`Predicted by ${candidate.name}`, output),
    ];
  });
  const title = `Samples that ${candidate.name} is worse at, by ${evaluatorName(evaluator)}`;
  return section(title, parts, next !== undefined);
}

function textsOf({ store }: FindNeeds, requester: Requester, ids: readonly string[]) {
  const known = ids.filter((id) => id !== "");
  return selectResultTexts(store.reader(requester), known, mostCharacters);
}

function section(title: string, parts: readonly ReportPart[], hasMore: boolean): ReportPart[] {
  if (parts.length === 0) return [];
  const more = hasMore ? [paragraph(`These are the first ${mostSamples}.`)] : [];
  return [heading(2, title), ...parts, ...more];
}

/** Verdicts are kept after their results' texts are deleted. */
function sampleParts(texts: ResultTexts | undefined, predicted: string): ReportPart[] {
  if (texts === undefined) return [paragraph("Its texts have been deleted.")];
  const { input, output, gold_answer: expected } = texts;
  return [...labelled("Given", input), ...labelled("Expected", expected), ...labelled(predicted, output)];
}

function labelled(label: string, text: string | null): ReportPart[] {
  if (text === null) return [];
  const cut = text.length >= mostCharacters ? `${text}…` : text;
  return [paragraph(`${label}:`), block(cut)];
}
