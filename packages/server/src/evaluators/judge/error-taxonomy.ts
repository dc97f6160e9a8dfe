import { maxKindsOfError } from "@presage/contract/read-taxonomy";
import { z } from "zod";
import { defineFamily } from "../family.ts";
import { EvaluationError, needsModel } from "../outcome.ts";
import { flattenTaxonomy } from "../taxonomies/taxonomies.ts";
import type { TaxonomyRevision } from "../taxonomies/taxonomies-store.ts";
import type { AskForVerdict } from "./ask-for-verdict.ts";
import type { VerdictForm } from "./judge-model.ts";
import { type ErrorKind, taxonomyQuestion } from "./prompts.ts";

/** A taxonomy's name, or a label. PostgreSQL rejects NUL characters even in a query. */
const name = z
  .string()
  .min(1)
  .refine((text) => !text.includes("\0"), "Names must not contain NUL characters");

const config = z.strictObject({
  error_taxonomy_name: name,
  label: name.default("production").meta({
    description: "The revision of the taxonomy with this label is used.",
  }),
});

export interface ErrorTaxonomyOptions {
  /** Undefined if no model is configured. */
  askForVerdict: AskForVerdict | undefined;
  findLabelledRevision(
    accountId: string,
    taxonomyName: string,
    label: string,
  ): Promise<TaxonomyRevision | undefined>;
}

/** A model classifies the errors of an output by the kinds of error of a taxonomy. */
export function createErrorTaxonomyFamily({ askForVerdict, findLabelledRevision }: ErrorTaxonomyOptions) {
  return defineFamily({
    kind: "model",
    name: "error-taxonomy",
    description: "A model finds which errors of a taxonomy the output has; it passes if it has none.",
    versions: ["2026-11-30", "2026-11-21"],
    needs: ["output"],
    takes: ["systemPrompt", "retrievedContext", "input", "goldAnswer"],
    config,
    builtInProfiles: [
      {
        name: "system:agent-errors",
        description: "Errors of agents at work.",
        config: { error_taxonomy_name: "system:agent-errors", label: "production" },
      },
      {
        name: "system:world-model-errors",
        description: "Errors of predicted states.",
        config: { error_taxonomy_name: "system:world-model-errors", label: "production" },
      },
    ],
    async evaluate(sample, call) {
      if (askForVerdict === undefined) throw needsModel();
      const { accountId } = call;
      const { error_taxonomy_name, label } = call.config;
      const revision = await findLabelledRevision(accountId, error_taxonomy_name, label);
      if (revision === undefined) {
        throw noTaxonomy(`There is no revision of "${error_taxonomy_name}" with the label "${label}".`);
      }
      const kinds = kindsOf(revision);
      const { value, asked } = await askForVerdict(taxonomyQuestion(kinds, sample), formOf(kinds), call);
      const found = kinds.flatMap(({ id, path }) => {
        const category = value.categories.find((named) => named.id === id);
        return category === undefined ? [] : [{ path, reason: category.reason }];
      });
      const pass = found.length === 0;
      return {
        pass,
        score: Number(pass),
        extra: {
          ...asked,
          categories: found,
          error_taxonomy_revision_id: revision.id,
          revision: revision.revision,
        },
        explain: () =>
          [value.reasoning, ...found.map(({ path, reason }) => `- ${path.join(" / ")}: ${reason}`)].join(
            "\n",
          ),
      };
    },
  });
}

function kindsOf({ body, error_taxonomy_name }: TaxonomyRevision): ErrorKind[] {
  const leaves = flattenTaxonomy(JSON.parse(body), maxKindsOfError + 1);
  if (leaves.length === 0) throw noTaxonomy(`"${error_taxonomy_name}" has no kinds of error.`);
  if (leaves.length > maxKindsOfError) {
    throw noTaxonomy(`"${error_taxonomy_name}" has more than ${maxKindsOfError} kinds of error.`);
  }
  return leaves.map((leaf, index) => ({ id: `E${index + 1}`, ...leaf }));
}

function noTaxonomy(message: string): EvaluationError {
  return new EvaluationError("no_such_taxonomy", message);
}

interface FoundCategories {
  reasoning: string;
  categories: { id: string; reason: string }[];
}

/** A verdict may name the kinds of error of the taxonomy. */
function formOf(kinds: readonly ErrorKind[]): VerdictForm<FoundCategories> {
  const ids = kinds.map(({ id }) => id);
  const category = {
    type: "object",
    properties: { id: { type: "string", enum: ids }, reason: { type: "string" } },
    required: ["id", "reason"],
    additionalProperties: false,
  };
  return {
    name: "give_categories",
    decidingKey: "categories",
    jsonSchema: {
      type: "object",
      properties: { reasoning: { type: "string" }, categories: { type: "array", items: category } },
      required: ["reasoning", "categories"],
      additionalProperties: false,
    },
    schema: z.object({
      reasoning: z.string().regex(/\S/),
      categories: z.array(z.object({ id: z.enum(ids), reason: z.string() })),
    }),
  };
}
