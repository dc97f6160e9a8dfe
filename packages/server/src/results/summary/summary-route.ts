import {
  type EvaluationSummaryGroup,
  EvaluationSummaryRequest,
  EvaluationSummaryResponse,
} from "@presage/contract";
import { toExternalName } from "../../evaluators/outcome.ts";
import { response } from "../../http/describe.ts";
import { toIsoDay } from "../../http/response.ts";
import { reply, route } from "../../http/route.ts";
import { InvalidRequestError, missing, refuseUnknownFields, valueError } from "../../http/validate.ts";
import { type FilterServices, readResultFilter } from "../search/read-filter.ts";
import { summarise, TooManyGroupsError } from "./summarise.ts";
import type { SummaryGroup } from "./summary-group.ts";

const tag = "evaluation results";

const summaryOfResults = route({
  method: "POST",
  path: "/v1/evaluation-results/summary",
  needs: "read",
  id: "summariseEvaluationResults",
  tag,
  summary: "Summarise results by group",
  description:
    "Counts results and gives pass rates, mean scores and quantiles, by evaluator, profile, app, tag, UTC day or run. Without a `status`, all results are counted.",
  body: EvaluationSummaryRequest,
  bodyExample: {
    group_by: ["evaluator", "day"],
    app: "night-runs",
  },
  hasOldNames: true,
  responses: {
    "200": response("The groups, by day if requested, then largest first", EvaluationSummaryResponse, {
      source: "rollups",
      groups: [
        {
          key: {
            evaluator_id: "edit-distance-2026-11-21",
            evaluator_family: "edit-distance",
            day: "2026-11-22",
          },
          count: 41,
          scored: 40,
          passed: 30,
          not_passed: 10,
          not_applicable: 0,
          failed: 1,
          interval_method: "independent",
          clusters: null,
          pass_rate: 0.75,
          pass_rate_interval: {
            level: 0.95,
            lower: 0.5980686424286384,
            upper: 0.8581385424466846,
          },
          mean_score: 0.8125,
          mean_score_interval: { level: 0.95, lower: 0.76, upper: 0.865 },
          p10: 0.531,
          p50: 0.88,
          p90: 1,
        },
      ],
    }),
  },
  async handle(services: FilterServices, { requester, body }) {
    const dimensions = body.group_by ?? [];
    if (dimensions.includes("tag") && !body.tag) {
      throw new InvalidRequestError([missing(["body", "tag"], body)]);
    }
    refuseUnknownFields(EvaluationSummaryRequest, body, "body");
    const filter = await readResultFilter(services, requester, body);
    const hasIntervals = body.intervals ?? true;
    const wanted = { filter, dimensions, tag: body.tag ?? undefined, hasIntervals };
    const { source, groups } = await summarise(services, requester, wanted).catch((error: unknown) => {
      if (!(error instanceof TooManyGroupsError)) throw error;
      throw new InvalidRequestError([valueError(["body", "group_by"], error.message, dimensions)]);
    });
    return reply(200, {
      source,
      groups: groups.map(({ key, ...figures }) => ({ key: toKey(key), ...figures })),
    });
  },
});

export const summaryRoutes = [summaryOfResults];

/** In the store, an empty text or 0 means none; in a response, none is null. */
function toKey(key: SummaryGroup["key"]): EvaluationSummaryGroup["key"] {
  const { evaluator_id, evaluator_family, profile_name, profile_public_id, profile_revision } = key;
  return {
    // Only imported results have no family.
    evaluator_id: evaluator_id && evaluator_family === "" ? toExternalName(evaluator_id) : evaluator_id,
    evaluator_family: orNull(evaluator_family),
    profile_name: orNull(profile_name),
    evaluator_profile_public_id: orNull(profile_public_id),
    evaluator_profile_revision: orNull(profile_revision),
    app: key.app,
    tag: key.tag,
    day: key.day === undefined ? undefined : toIsoDay(key.day),
    evaluation_run_id: orNull(key.run_id),
  };
}

function orNull<Value>(value: Value | undefined): Value | null | undefined {
  return value === undefined ? undefined : value || null;
}
