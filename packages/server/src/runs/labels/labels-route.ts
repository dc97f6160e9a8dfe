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
} from "@presage/contract";
import { errorResponse, noSuch, page, response } from "../../http/describe.ts";
import { receiveUpload } from "../../http/receive-upload.ts";
import { readKeysetPage, toCursor } from "../../http/request.ts";
import { reply, route } from "../../http/route.ts";
import type { LabelServices } from "../../results/labels/labels.ts";
import type { FindNeeds } from "../runs.ts";
import { agreementOf } from "./agreement.ts";
import { importLabels } from "./import-labels.ts";
import { drawLabelSample, listLabelSamples } from "./label-samples.ts";

const exampleSample: LabelSample = {
  id: "019aa5f7-0b52-7000-a6c4-51a7d80c2f19",
  run_id: "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41",
  evaluator: "judge-2026-11-21",
  profile_name: "system:matches-gold",
  by: "uniform",
  seed: 1,
  drawn_from: 394,
  left_out: 120,
  created_at: "2026-11-28T09:12:05.310Z",
  data: [{ result_id: "1042", probability: 0.0508, labelled: false }],
};

const drawSample = route("POST", "/v1/runs/:id/label-sample", {
  needs: "evaluate",
  id: "drawLabelSample",
  summary: "Draw verdicts to label",
  description:
    "Draws verdicts of one evaluator of a run that has ended, and keeps with which probability each was drawn, so that figures from their labels are about all of them. Outputs that equal their gold answers are not drawn.",
  params: RunPath,
  body: LabelSampleRequest,
  bodyExample: { size: 20, seed: 7, by: "verdict" },
  once: "draw label sample",
  responses: {
    "201": response("What was drawn", LabelSample, exampleSample),
    ...noSuch("run"),
    "409": errorResponse(
      "The run has not ended",
      "The run has not ended. Draw from it when all of its verdicts are there.",
    ),
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
  description: "Lists the draws from a run, with what of each is labelled.",
  params: RunPath,
  query: LabelSampleListQuery,
  responses: {
    "200": response("The draws, the newest first", LabelSampleListResponse, page(exampleSample)),
    ...noSuch("run"),
  },
  async handle(services: FindNeeds, { requester, params, query: { limit = maxLabelSamples, after } }) {
    const wanted = readKeysetPage({ limit: String(limit), after });
    const { rows, next } = await listLabelSamples(services, requester, params.id, wanted);
    return reply(200, { data: rows, next: toCursor(next) });
  },
});

const made = { count: 120, trajectories: 25, effective_trajectories: 18.2, note: null };
const interval = (lower: number, upper: number) => ({ level: 0.95, lower, upper });
const exampleAgreement: LabelAgreement = {
  run_id: exampleSample.run_id,
  evaluator: "judge-2026-11-21",
  profile_name: "system:matches-gold",
  against: "human",
  sentence:
    "judge agrees with people on 91 % (84 % to 95 %) of 120 samples; beyond chance κ = 0.79 (0.66 to 0.92). It passes 7 of the 43 that people fail.",
  note: null,
  weighted: true,
  counts: { both_pass: 73, only_evaluator: 7, only_reference: 4, both_fail: 36 },
  undecided: 0,
  agreement: { value: 0.908, interval: interval(0.84, 0.95), ...made },
  cohen_kappa: { value: 0.79, interval: interval(0.66, 0.92), ...made },
  gwet_ac1: { value: 0.83, interval: interval(0.71, 0.95), ...made },
  krippendorff_alpha: { value: 0.79, interval: interval(0.66, 0.92), ...made },
  people_alpha: {
    ...{ value: null, interval: null, count: 0, trajectories: 0, effective_trajectories: null },
    note: "No verdict has the labels of two people.",
  },
  sensitivity: { value: 0.948, interval: interval(0.87, 0.98), ...made, count: 77 },
  specificity: { value: 0.837, interval: interval(0.7, 0.92), ...made, count: 43 },
  precision: { value: 0.913, interval: interval(0.83, 0.96), ...made, count: 80 },
  more_labels: { half_width: 0.05, count: 16 },
  annotators: [{ annotator: "ada@example.com", labels: 120, agreed: 109 }],
};

const getAgreement = route("GET", "/v1/agreement", {
  needs: "read",
  id: "getAgreement",
  summary: "Show how far an evaluator agrees with people, or with another one",
  description:
    "Compares an evaluator's verdicts with people's labels: the majority's where several labelled one. Shares have the interval of a pass rate; coefficients beyond chance one that leaves out a trajectory at a time.",
  query: AgreementOfLabelsQuery,
  responses: {
    "200": response(
      "The figures; null with the reason where there are none",
      LabelAgreement,
      exampleAgreement,
    ),
    ...noSuch("run"),
    "409": errorResponse(
      "Two evaluators of a run that a client makes are to be compared",
      "The run's target is external: it has results, and no predictions.",
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
    "Stores labels from elsewhere, a line of JSON each, at most 100,000. A line names its result, or a run and a sample, whose results of all evaluators then get the label. If a line is wrong, none is stored; sent again, they change nothing.",
  more: {
    requestBody: {
      required: true,
      description: "One JSON object a line; gzip is allowed.",
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
