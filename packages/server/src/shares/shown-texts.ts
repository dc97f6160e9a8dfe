import type { Comparison } from "@presage/contract";
import type { Requester } from "../platform/storage/store.ts";
import { listComparedSamples } from "../runs/compare/compare-route.ts";
import { nameOf } from "../runs/report/document.ts";
import { block, heading, paragraph, type ReportPart } from "../runs/report/pages.ts";
import { isClientRun, type Run } from "../runs/run.ts";
import { listRunSamples } from "../runs/run-samples.ts";
import { datasetOrder, type ResultTexts, selectResultTexts } from "../runs/run-samples-store.ts";
import type { FindNeeds } from "../runs/runs.ts";

/** As many as somebody reads. */
const mostSamples = 10;
/** Of each text. */
const mostCharacters = 4_000;

/** The first samples that fail by the run's first evaluator, with their texts. */
export async function failingSamples(
  services: FindNeeds,
  requester: Requester,
  run: Run,
): Promise<ReportPart[]> {
  const [evaluator] = run.evaluators;
  if (isClientRun(run) || evaluator === undefined) return [];
  const page = { ...datasetOrder, limit: mostSamples, after: undefined };
  const filter = { evaluator: 0, pass: false };
  const { samples, next } = await listRunSamples(services, requester, run, filter, page, undefined);
  const idOf = ({ verdicts }: (typeof samples)[number]) => verdicts[0]?.evaluation_result_id ?? "";
  const texts = await textsOf(services, requester, samples.map(idOf));
  const name = nameOf({ evaluator: evaluator.id, profile_name: evaluator.profile.name });
  const parts = samples.flatMap((sample) => [
    heading(3, `${sample.trajectory_id}, step ${sample.step}`),
    ...sampleParts(texts.get(idOf(sample)), "Predicted"),
  ]);
  return section(`Samples that do not pass ${name}`, parts, next !== undefined);
}

/** The samples that the first candidate is worse at than the reference, by the first evaluator of both, with their texts. */
export async function worseSamples(
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
  const title = `Samples that ${candidate.name} is worse at, by ${nameOf(evaluator)}`;
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

/** Results may have been deleted, which their verdicts outlive. */
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
