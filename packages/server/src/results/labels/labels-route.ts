import {
  type EvaluationLabel,
  EvaluationResultPath,
  LabelListResponse,
  LabelRequest,
  readResultId,
} from "@presage/contract";
import { errorResponse, noSuch, response } from "../../http/describe.ts";
import { reply, route } from "../../http/route.ts";
import { annotatorOf, type LabelServices, labelResult, listOfLabels } from "./labels.ts";

const resultNotFound = noSuch("result", "evaluation result");

const exampleLabel: EvaluationLabel = {
  result_id: "1",
  label: "fail",
  score: null,
  annotator: "ada@example.com",
  user_id: "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41",
  created_at: "2026-11-28T09:12:05.310Z",
};
const exampleList: LabelListResponse = { data: [exampleLabel], correction: null };

const listLabels = route("GET", "/v1/evaluation-results/:id/labels", {
  needs: "read",
  id: "listEvaluationLabels",
  summary: "List the labels of a result",
  description: "Lists what people say of the result's output, and the correction that counts.",
  params: EvaluationResultPath,
  responses: {
    "200": response("The labels, one a person", LabelListResponse, exampleList),
    ...resultNotFound,
  },
  async handle(services: LabelServices, { requester, params }) {
    return reply(200, await listOfLabels(services, requester, readResultId(params.id)));
  },
});

const addLabel = route("POST", "/v1/evaluation-results/:id/labels", {
  needs: "evaluate",
  id: "labelEvaluationResult",
  summary: "Label a result",
  description:
    "Stores what a person says of the result's output, in place of the same person's earlier label; agreement with the evaluator is a label too. If the label is the caller's own, disagrees with the verdict, and nobody has corrected that, it also corrects it; such a correction is withdrawn with its label.",
  params: EvaluationResultPath,
  body: LabelRequest,
  bodyExample: { label: "fail" },
  once: "label result",
  responses: {
    "201": response("All labels of the result", LabelListResponse, exampleList),
    "409": errorResponse("The evaluation has no verdict", "The evaluation has no verdict to label."),
    ...resultNotFound,
  },
  async handle(services: LabelServices, { call, requester, params, body, once }) {
    const resultId = readResultId(params.id);
    const by = annotatorOf(body.annotator, call.caller.userId);
    const label = { resultId, by, label: body.label, score: body.score ?? null };
    await labelResult(services, requester, label, once);
    return reply(201, await listOfLabels(services, requester, resultId));
  },
});

export const labelRoutes = [listLabels, addLabel];
