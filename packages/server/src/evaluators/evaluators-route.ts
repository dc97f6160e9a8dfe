import {
  type Evaluator,
  type EvaluatorFamily,
  EvaluatorFamilyListResponse,
  EvaluatorListQuery,
  EvaluatorListResponse,
} from "@presage/contract";
import { defaultProfileName } from "@presage/contract/defaults";
import { z } from "zod";
import { response } from "../http/describe.ts";
import { reply, route } from "../http/route.ts";
import examples from "./examples.json" with { type: "json" };
import type { Family } from "./family.ts";
import { sampleFieldNames } from "./outcome.ts";
import { findBuiltInProfile } from "./profiles/profiles.ts";
import type { RegisteredEvaluator, Registry } from "./registry.ts";

const listEvaluators = route("GET", "/v1/evaluators", {
  needs: "read",
  id: "listEvaluators",
  summary: "List every version of every evaluator family",
  description:
    "Lists the evaluators that `POST /v1/evaluate` can run. A family's name and the ids of its older versions run its newest version. Older ids are kept for clients that name them; results keep the id that was named. The list is empty if no evaluator has the wanted name.",
  query: EvaluatorListQuery,
  allowsUnknown: true,
  responses: {
    "200": response("The evaluators, by id", EvaluatorListResponse, examples.evaluators),
  },
  handle({ registry }: { registry: Registry }, { query: { by_alias_or_id: wanted } }) {
    const wantedId = wanted === undefined ? undefined : registry.find(wanted)?.id;
    const evaluators = registry.evaluators
      .filter(({ id }) => wanted === undefined || id === wantedId)
      .map((evaluator) => toEvaluator(evaluator, registry))
      .sort(({ id }, { id: other }) => (id < other ? -1 : 1));
    return reply(200, { evaluators });
  },
});

const listFamilies = route("GET", "/v1/evaluator-families", {
  needs: "read",
  id: "listEvaluatorFamilies",
  summary: "List the evaluator families",
  description: "Lists the kinds of evaluators: the fields that each reads, and the schema of its profiles.",
  responses: {
    "200": response(
      "The families, with the schema of their profiles",
      EvaluatorFamilyListResponse,
      examples.families,
    ),
  },
  handle({ registry, hasModel }: { registry: Registry; hasModel: boolean }) {
    return reply(200, { evaluator_families: registry.families.map((family) => toFamily(family, hasModel)) });
  },
});

export const evaluatorRoutes = [listEvaluators, listFamilies];

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
