import type { EvaluatorFamily } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { latestTaxonomiesQuery, taxonomyRevisionsQuery } from "../../../data/evaluation/error-taxonomies.ts";
import { usePresage } from "../../../data/use-presage.ts";
import type { JsonObject } from "../../../ui/form/parse-json.ts";
import type { ConfigField } from "./config-field.ts";

/** The settings of a family, with a choice in place of free text where the values there are can be listed. */
export function useKnownFields(
  { family_name }: EvaluatorFamily,
  fields: readonly ConfigField[],
  config: JsonObject | undefined,
): readonly ConfigField[] {
  const presage = usePresage();
  const isTaxonomy = family_name === "error-taxonomy";
  const taxonomies = useQuery({ ...latestTaxonomiesQuery(presage), enabled: isTaxonomy });
  const chosen = taxonomies.data?.find(
    ({ error_taxonomy_name }) => error_taxonomy_name === config?.error_taxonomy_name,
  );
  const revisions = useQuery({
    ...taxonomyRevisionsQuery(presage, chosen?.error_taxonomy_id ?? ""),
    enabled: chosen !== undefined,
  });
  if (!isTaxonomy) return fields;
  const known: Record<string, string[] | undefined> = {
    error_taxonomy_name: taxonomies.data?.map(({ error_taxonomy_name }) => error_taxonomy_name),
    label: revisions.data && [...new Set(revisions.data.flatMap(({ labels }) => labels))].sort(),
  };
  return fields.map((field) => {
    const options = known[field.name];
    return field.kind === "text" && options !== undefined && options.length > 0
      ? { ...field, kind: "choice", options }
      : field;
  });
}
