import {
  maxKindsOfError,
  otherFields,
  readTaxonomy,
  type TaxonomyNode,
} from "@presage/contract/read-taxonomy";
import { parseJson } from "../../../ui/form/parse-json.ts";
import { countLeaves } from "../tree/walk-nodes.ts";
import { readOutline, writeOutline } from "./outline.ts";
import { writeTaxonomy } from "./write-taxonomy.ts";

/** A tree that is being written. Both texts are kept; the one of the side that is in use counts. */
export interface TreeDraft {
  outline: string;
  json: string;
  /** «outline» or «json». */
  side: string;
}

type Body = Record<string, unknown> | unknown[];

/** A draft to begin with. A body that says more than an outline can is begun as JSON. */
export function draftOfBody(body: unknown): TreeDraft {
  return {
    outline: writeOutline(readTaxonomy(body)),
    json: JSON.stringify(body, null, 2),
    side: otherFields(body).length > 0 ? "json" : "outline",
  };
}

/** The tree, as far as it can be read, what would be stored, and what stands against it. */
export function readTree({ outline, json, side }: TreeDraft): {
  nodes: TaxonomyNode[];
  body: Body | undefined;
  issues: string[];
} {
  if (side !== "json") {
    const { nodes, issues } = readOutline(outline);
    const told = issues.map(({ line, text }) => `Line ${line} ${text}.`);
    return { nodes, body: writeTaxonomy(nodes), issues: [...told, ...issuesOfSize(nodes)] };
  }
  const parsed = parseJson(json);
  if ("issue" in parsed) return { nodes: [], body: undefined, issues: [parsed.issue] };
  const nodes = readTaxonomy(parsed.value);
  return isBody(parsed.value)
    ? { nodes, body: parsed.value, issues: issuesOfSize(nodes) }
    : { nodes, body: undefined, issues: ["A tree is an object or a list."] };
}

/** Goes on with the same tree on the other side. What cannot be read stays where it is. */
export function switchSide(draft: TreeDraft, side: "outline" | "json"): Partial<TreeDraft> {
  if (side === "outline") {
    const parsed = parseJson(draft.json);
    return "issue" in parsed ? {} : { side, outline: writeOutline(readTaxonomy(parsed.value)) };
  }
  const { nodes, issues } = readOutline(draft.outline);
  if (issues.length > 0) return {};
  const parsed = parseJson(draft.json);
  const isSame = "value" in parsed && writeOutline(readTaxonomy(parsed.value)) === writeOutline(nodes);
  // An outline that nobody touched must not take away what only the JSON says.
  return isSame ? { side } : { side, json: JSON.stringify(writeTaxonomy(nodes), null, 2) };
}

function issuesOfSize(nodes: readonly TaxonomyNode[]): string[] {
  const leaves = countLeaves(nodes);
  if (leaves <= maxKindsOfError) return [];
  return [`There are ${leaves} kinds of error; an evaluation takes ${maxKindsOfError} at most.`];
}

function isBody(value: unknown): value is Body {
  return typeof value === "object" && value !== null;
}
