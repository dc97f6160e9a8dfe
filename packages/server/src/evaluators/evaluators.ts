import {
  type Evaluator,
  type EvaluatorFamily,
  type EvaluatorFamilyListResponse,
  EvaluatorListQuery,
  type EvaluatorListResponse,
} from "@presage/contract";
import { z } from "zod";
import type { Services } from "../app/services.ts";
import { readQuery } from "../http/read-request.ts";
import { type Route, withCaller } from "../http/route.ts";
import { defaultProfileName, type Family } from "./family.ts";
import { findBuiltInProfile } from "./profiles/built-in-profiles.ts";
import type { RegisteredEvaluator, Registry } from "./registry.ts";
import { sampleFieldNames } from "./sample.ts";

export function evaluatorRoutes({ evaluation: { registry, hasModel } }: Services): Route[] {
  // The same for every caller until the next start.
  const evaluators: EvaluatorListResponse = {
    evaluators: registry.evaluators
      .map((evaluator) => toEvaluator(evaluator, registry))
      .sort(({ id }, { id: other }) => (id < other ? -1 : 1)),
  };
  const families: EvaluatorFamilyListResponse = {
    evaluator_families: registry.families.map((family) => toFamily(family, hasModel)),
  };
  return [
    withCaller("GET", "/v1/evaluators", "read", (call) => {
      const { by_alias_or_id: wanted } = readQuery(call, EvaluatorListQuery);
      if (wanted === undefined) return Response.json(evaluators);
      const id = registry.find(wanted)?.id;
      const found: EvaluatorListResponse = {
        evaluators: evaluators.evaluators.filter((one) => one.id === id),
      };
      return Response.json(found);
    }),
    withCaller("GET", "/v1/evaluator-families", "read", () => Response.json(families)),
  ];
}

function toEvaluator({ id, family }: RegisteredEvaluator, registry: Registry): Evaluator {
  const defaultProfile = findBuiltInProfile(family, defaultProfileName);
  return {
    id,
    name: id,
    evaluator_family: family.name,
    aliases: registry.find(family.name)?.id === id ? [family.name] : [],
    description: family.description,
    profile_required: defaultProfile === undefined,
    default_criteria: defaultProfile?.name ?? null,
    evaluation_enabled: true,
    evaluation_run_enabled: true,
  };
}

function toFamily(
  { kind, name, description, needs, takes = [], config }: Family,
  hasModel: boolean,
): EvaluatorFamily {
  return {
    family_name: name,
    description,
    required_input_fields: needs.map((field) => sampleFieldNames[field]),
    optional_input_fields: takes.map((field) => sampleFieldNames[field]),
    uses_model: kind === "model",
    needs_model: kind === "model" && !hasModel,
    // Without defaults filled in. JSON Schema cannot express all rules; the server checks the others as well.
    profile_config_schema: z.toJSONSchema(config, { io: "input", unrepresentable: "any" }),
  };
}
