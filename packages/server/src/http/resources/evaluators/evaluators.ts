import type {
  Evaluator,
  EvaluatorFamily,
  EvaluatorFamilyListResponse,
  EvaluatorListResponse,
} from "@presage/contract";
import { z } from "zod";
import { defaultProfileName, type Family } from "../../../evaluation/evaluators/family.ts";
import type { RegisteredEvaluator, Registry } from "../../../evaluation/evaluators/registry.ts";
import { findBuiltInProfile } from "../../../evaluation/profiles/built-in-profiles.ts";
import { sampleFieldNames } from "../../../evaluation/sample.ts";
import { type Route, withCaller } from "../../pipeline/route.ts";
import type { Services } from "../../services.ts";

export function evaluatorRoutes({ registry }: Services): Route[] {
  // The same for every caller until the next start.
  const evaluators: EvaluatorListResponse = {
    evaluators: registry.evaluators
      .map((evaluator) => toEvaluator(evaluator, registry))
      .sort(({ id }, { id: other }) => (id < other ? -1 : 1)),
  };
  const families: EvaluatorFamilyListResponse = { evaluator_families: registry.families.map(toFamily) };
  return [
    withCaller("GET", "/v1/evaluators", () => Response.json(evaluators)),
    withCaller("GET", "/v1/evaluator-families", () => Response.json(families)),
  ];
}

function toEvaluator({ id, family }: RegisteredEvaluator, registry: Registry): Evaluator {
  return {
    id,
    name: id,
    evaluator_family: family.name,
    aliases: registry.find(family.name)?.id === id ? [family.name] : [],
    description: family.description,
    profile_required: findBuiltInProfile(family, defaultProfileName) === undefined,
    evaluation_enabled: true,
    evaluation_run_enabled: true,
  };
}

function toFamily({ kind, name, description, needs, takes = [], config }: Family): EvaluatorFamily {
  return {
    family_name: name,
    description,
    required_input_fields: needs.map((field) => sampleFieldNames[field]),
    optional_input_fields: takes.map((field) => sampleFieldNames[field]),
    uses_model: kind === "model",
    // Without defaults filled in. JSON Schema cannot express all rules; the server checks the others as well.
    profile_config_schema: z.toJSONSchema(config, { io: "input", unrepresentable: "any" }),
  };
}
