import {
  AgreementOfLabelsQuery,
  LabelAgreement,
  LabelImport,
  LabelLine,
  LabelSample,
  LabelSampleListQuery,
  LabelSampleListResponse,
  LabelSampleRequest,
  maxLabelSamples,
  RunPath,
  readResultId,
} from "@presage/contract";
import { checkLine, createLineReader, gunzip, splitLines } from "../../datasets/upload/lines.ts";
import { externalPrefix } from "../../evaluators/outcome.ts";
import { errorResponse, noSuch, page, response } from "../../http/describe.ts";
import { receiveUpload } from "../../http/receive-upload.ts";
import { readKeysetPage, toCursor } from "../../http/request.ts";
import { reply, route } from "../../http/route.ts";
import { type Changer, recordChange } from "../../platform/audit.ts";
import { UploadError } from "../../platform/errors.ts";
import { sampleKey } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { inTransaction } from "../../platform/storage/store.ts";
import { inParts } from "../../platform/words.ts";
import { annotatorOf, type LabelServices, type NewLabel, putLabel } from "../../results/labels/labels.ts";
import { type NamedResult, selectNamedResults } from "../../results/labels/labels-store.ts";
import examples from "../examples.json" with { type: "json" };
import type { FindNeeds } from "../runs.ts";
import { agreementOf } from "./agreement.ts";
import { drawLabelSample, listLabelSamples } from "./label-samples.ts";

/** The labels of one transaction, which takes some ten milliseconds. */
const labelsAtOnce = 200;
const namesAtOnce = 500;
/** More than people give; all lines are in memory together. */
const mostLines = 100_000;
const mostBytes = 64 * 1024 * 1024;
const tooMany = `At most ${mostLines} lines and ${mostBytes} bytes at once`;
const mostFaults = 10;
/** For a line, a result that it names, and its label. */
const bytesPerItem = 500;

type Reserve = (bytes: number) => void;

interface NumberedLine {
  number: number;
  line: LabelLine;
}

/**
 * Stores labels, one per line. All lines are checked before the first is stored; then they are stored in batches. Sending them again
 * changes nothing.
 */
async function importLabels(
  services: LabelServices,
  requester: Changer,
  {
    body,
    isGzip,
    userId,
    reserve,
  }: { body: AsyncIterable<Uint8Array>; isGzip: boolean; userId: string; reserve: Reserve },
): Promise<LabelImport> {
  const lines = await readLines(isGzip ? gunzip(body) : body, reserve);
  const reader = services.store.reader(requester);
  const labels = await findResults(reader, requester.accountId, lines, { userId, reserve });
  // Always in the order of results, so that two imports cannot deadlock.
  for (const some of inParts(labels, labelsAtOnce))
    await inTransaction(services.store, requester, async (transaction) => {
      for (const label of some) await putLabel(transaction, requester.accountId, label);
      await recordChange(transaction, requester, "evaluation_result.label", String(some[0]?.resultId), {
        labels: some.length,
      });
    });
  services.countsMerger.schedule();
  const takenBack = labels.filter(({ label }) => label === null).length;
  return { labels: labels.length - takenBack, taken_back: takenBack };
}

async function readLines(body: AsyncIterable<Uint8Array>, reserve: Reserve): Promise<NumberedLine[]> {
  const readLine = createLineReader((value) => checkLine(LabelLine, value));
  const read: NumberedLine[] = [];
  let bytes = 0;
  for await (const raws of splitLines(body)) {
    for (const raw of raws) {
      const line = readLine(raw);
      if (line !== undefined) read.push({ number: raw.number, line });
      bytes += raw.bytes.length;
      if (read.length > mostLines || bytes > mostBytes)
        throw new UploadError({ line: raw.number, path: [], reason: tooMany });
    }
    reserve(read.length * bytesPerItem);
  }
  if (read.length === 0)
    throw new UploadError({ line: undefined, path: [], reason: "The body has no labels" });
  return read;
}

/** The results that the lines name. The later of two lines about one person and result counts. */
async function findResults(
  reader: Database,
  accountId: string,
  lines: readonly NumberedLine[],
  { userId, reserve }: { userId: string; reserve: Reserve },
): Promise<NewLabel[]> {
  const reserveWith = (results: number) => reserve((lines.length + 2 * results) * bytesPerItem);
  const byId = await selectById(reader, accountId, lines, reserveWith);
  const bySample = await selectBySample(reader, accountId, lines, (found) => reserveWith(byId.size + found));
  const faults: { line: number; path: string[]; reason: string }[] = [];
  const labels = new Map<string, NewLabel>();
  for (const { number, line } of lines) {
    const { label, score = null } = line;
    // The label is still to be given.
    if (label === "") continue;
    const found = resultsOf(line, byId, bySample);
    if (typeof found === "string") faults.push({ line: number, path: [], reason: found });
    else
      for (const { id } of found) {
        const by = annotatorOf(line.annotator, userId);
        const key = JSON.stringify([id, by]);
        labels.set(key, { resultId: id, by, label, score });
      }
  }
  if (faults.length > 0) throw new UploadError(faults.slice(0, mostFaults), faults.length);
  return [...labels.values()].sort((a, b) => a.resultId - b.resultId);
}

/** The results that a line names, or the error in the line. */
function resultsOf(
  line: LabelLine,
  byId: ReadonlyMap<number, NamedResult>,
  bySample: ReadonlyMap<string, NamedResult[]>,
): NamedResult[] | string {
  if (line.result_id !== undefined) {
    const result = byId.get(readResultId(line.result_id));
    return result === undefined ? `There is no result ${line.result_id} with a verdict` : [result];
  }
  const found = (bySample.get(sampleOf(line)) ?? []).filter(
    (one) => line.evaluator === undefined || isNamed(one, line.evaluator),
  );
  if (found.length === 0) return "The run has no verdict on this sample";
  const seriesOf = (one: NamedResult) => JSON.stringify([one.evaluator_id, one.profile_name]);
  const repeats = Math.max(...[...Map.groupBy(found, seriesOf).values()].map((some) => some.length));
  return repeats > 1
    ? `The run has ${repeats} verdicts of one evaluator on this sample: name the result by result_id`
    : found;
}

function isNamed({ evaluator_id, evaluator_family }: NamedResult, name: string): boolean {
  return evaluator_id === name || evaluator_family === name || externalPrefix + evaluator_id === name;
}

/** Identifies the run and sample of a line. */
function sampleOf({ run_id, dataset_sample_id }: LabelLine): string {
  return JSON.stringify([run_id, sampleKey(dataset_sample_id ?? "")]);
}

async function selectById(
  reader: Database,
  accountId: string,
  lines: readonly NumberedLine[],
  reserveWith: (found: number) => void,
): Promise<Map<number, NamedResult>> {
  const ids = new Set(
    lines.flatMap(({ line }) => (line.result_id === undefined ? [] : [readResultId(line.result_id)])),
  );
  const found = new Map<number, NamedResult>();
  for (const some of inParts([...ids], namesAtOnce)) {
    for (const one of await selectNamedResults(reader, accountId, { ids: some })) found.set(one.id, one);
    reserveWith(found.size);
  }
  return found;
}

/** Only results of the runs that the lines name: many runs have results on the same samples. */
async function selectBySample(
  reader: Database,
  accountId: string,
  lines: readonly NumberedLine[],
  reserveWith: (found: number) => void,
): Promise<Map<string, NamedResult[]>> {
  const named = lines.flatMap(({ line: { run_id, dataset_sample_id: sample } }) =>
    run_id === undefined || sample === undefined ? [] : [{ run_id, key: sampleKey(sample) }],
  );
  const found = new Map<string, NamedResult[]>(
    named.map(({ run_id, key }) => [JSON.stringify([run_id, key]), []]),
  );
  let count = 0;
  for (const [runId, ofRun] of Map.groupBy(named, ({ run_id }) => run_id))
    for (const sampleKeys of inParts([...new Set(ofRun.map(({ key }) => key))], namesAtOnce)) {
      const results = await selectNamedResults(reader, accountId, { runId, sampleKeys });
      for (const one of results) found.get(JSON.stringify([runId, one.sample_key]))?.push(one);
      count += results.length;
      reserveWith(count);
    }
  return found;
}

const drawSample = route("POST", "/v1/runs/:id/label-sample", {
  needs: "evaluate",
  id: "drawLabelSample",
  summary: "Draw verdicts to label",
  description:
    "Draws verdicts of one evaluator from a run that has ended, and stores the probability with which each was drawn, so that figures from their labels represent all verdicts. Outputs that equal their gold answers are not drawn.",
  params: RunPath,
  body: LabelSampleRequest,
  bodyExample: { size: 20, seed: 7, by: "verdict" },
  once: "draw label sample",
  responses: {
    "201": response("What was drawn", LabelSample, examples.labelSample),
    ...noSuch("run"),
    "409": errorResponse("The run has not ended", "The run has not ended. Draw from it once it has."),
  },
  async handle(services: FindNeeds, { call, reserve, requester, params, body, once }) {
    const drawer = { ...requester, userId: call.caller.userId };
    return reply(201, await drawLabelSample(services, drawer, params.id, body, { once, reserve }));
  },
});

const listSamples = route("GET", "/v1/runs/:id/label-samples", {
  needs: "read",
  id: "listLabelSamples",
  summary: "List what was drawn to label",
  description: "Lists the draws from a run, and which verdicts of each are labelled.",
  params: RunPath,
  query: LabelSampleListQuery,
  responses: {
    "200": response("The draws, newest first", LabelSampleListResponse, page(examples.labelSample)),
    ...noSuch("run"),
  },
  async handle(services: FindNeeds, { requester, params, query: { limit = maxLabelSamples, after } }) {
    const wanted = readKeysetPage({ limit: String(limit), after });
    const { rows, next } = await listLabelSamples(services, requester, params.id, wanted);
    return reply(200, { data: rows, next: toCursor(next) });
  },
});

const getAgreement = route("GET", "/v1/agreement", {
  needs: "read",
  id: "getAgreement",
  summary: "Show how far an evaluator agrees with people, or with another evaluator",
  description:
    "Compares an evaluator's verdicts with people's labels: the majority's if several people labelled one. Shares have the interval of a pass rate; coefficients that correct for chance have one that leaves out one trajectory at a time.",
  query: AgreementOfLabelsQuery,
  responses: {
    "200": response(
      "The figures; null with the reason if there are none",
      LabelAgreement,
      examples.agreement,
    ),
    ...noSuch("run"),
    "409": errorResponse(
      "The request compares two evaluators of a run that a client makes",
      "The run's target is external: it has results but no predictions.",
    ),
  },
  async handle(services: FindNeeds, { reserve, requester, query }) {
    return reply(200, await agreementOf(services, requester, query, reserve));
  },
});

const uploadLabels = route("POST", "/v1/evaluation-labels", {
  needs: "evaluate",
  id: "importEvaluationLabels",
  summary: "Import labels",
  description:
    "Stores labels from elsewhere, one JSON object per line, at most 100,000. A line names its result, or a run and a sample, whose results of all evaluators then get the label. If a line is wrong, no label is stored; sending the same labels again changes nothing.",
  more: {
    requestBody: {
      required: true,
      description: "One JSON object per line; gzip is allowed.",
      content: {
        "application/x-ndjson": {
          schema: LabelLine,
          example: { result_id: "1", annotator: "ada", label: "pass" },
        },
      },
    },
  },
  responses: {
    "200": response("They are stored", LabelImport, { labels: 120, taken_back: 0 }),
  },
  async handle(services: LabelServices, { call, reserve, requester }) {
    const { userId } = call.caller;
    const stored = await receiveUpload(call, (body, { isGzip }) =>
      importLabels(services, requester, { body, isGzip, userId, reserve }),
    );
    return reply(200, stored);
  },
});

export const runLabelRoutes = [uploadLabels, drawSample, listSamples, getAgreement];
