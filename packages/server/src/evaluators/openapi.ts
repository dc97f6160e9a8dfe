import { EvaluatorFamilyListResponse, EvaluatorListQuery, EvaluatorListResponse } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { operation, response } from "../http/describe.ts";

export const evaluatorPaths: ZodOpenApiPathsObject = {
  "/v1/evaluators": {
    get: operation("listEvaluators", "evaluators", "List every version of every evaluator family", {
      description:
        "Lists the evaluators that `POST /v1/evaluate` can run. A family's name runs its newest version; an id always runs the same one. None if no evaluator has the wanted name.",
      requestParams: { query: EvaluatorListQuery },
      responses: {
        "200": response("The evaluators, by id", EvaluatorListResponse, {
          evaluators: [
            {
              id: "edit-distance-2026-11-21",
              name: "edit-distance-2026-11-21",
              evaluator_family: "edit-distance",
              aliases: ["edit-distance"],
              description:
                "How similar the output and the gold answer are, by the characters that would have to change.",
              profile_required: false,
              default_criteria: "system:default",
              evaluation_enabled: true,
              evaluation_run_enabled: true,
            },
          ],
        }),
      },
    }),
  },
  "/v1/evaluator-families": {
    get: operation("listEvaluatorFamilies", "evaluators", "List the evaluator families", {
      description:
        "Lists the kinds of evaluators: the fields that each reads, and the schema of its profiles.",
      responses: {
        "200": response("The families, with the schema of their profiles", EvaluatorFamilyListResponse, {
          evaluator_families: [
            {
              family_name: "exact-match",
              description: "The output equals the gold answer.",
              required_input_fields: ["evaluated_model_output", "evaluated_model_gold_answer"],
              optional_input_fields: [],
              uses_model: false,
              needs_model: false,
              profile_config_schema: {
                $schema: "https://json-schema.org/draft/2020-12/schema",
                type: "object",
                properties: {
                  trim: {
                    default: true,
                    description: "White space at both ends does not count.",
                    type: "boolean",
                  },
                },
                additionalProperties: false,
              },
            },
          ],
        }),
      },
    }),
  },
};
