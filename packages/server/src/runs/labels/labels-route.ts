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
import examples from "../examples.json" with { type: "json" };
import type { FindNeeds } from "../runs.ts";
import { agreementOf } from "./agreement.ts";
import { importLabels } from "./import-labels.ts";
import { drawLabelSample, listLabelSamples } from "./label-samples.ts";

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
  description: "Lists the draws from a run, with what of each is labelled.",
  params: RunPath,
  query: LabelSampleListQuery,
  responses: {
    "200": response("The draws, the newest first", LabelSampleListResponse, page(examples.labelSample)),
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
  summary: "Show how far an evaluator agrees with people, or with another one",
  description:
    "Compares an evaluator's verdicts with people's labels: the majority's where several labelled one. Shares have the interval of a pass rate; coefficients beyond chance one that leaves out a trajectory at a time.",
  query: AgreementOfLabelsQuery,
  responses: {
    "200": response(
      "The figures; null with the reason where there are none",
      LabelAgreement,
      examples.agreement,
    ),
    ...noSuch("run"),
    "409": errorResponse(
      "Two evaluators of a run that a client makes are to be compared",
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
