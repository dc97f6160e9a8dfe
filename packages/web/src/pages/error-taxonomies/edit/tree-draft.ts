import {
  maxKindsOfError,
  otherFields,
  readTaxonomy,
  type TaxonomyNode,
} from "@presage/contract/read-taxonomy";
import { parseJson } from "../../../ui/form/form.tsx";
import { countLeaves } from "../tree/tree-nodes.ts";

/** A tree being edited. Both texts are kept; `side` says which one counts. */
export interface TreeDraft {
  outline: string;
  json: string;
  /** `outline` or `json`. */
  side: string;
}

/** If the body has fields that an outline cannot express, the draft starts as JSON. */
export function draftOfBody(body: unknown): TreeDraft {
  return {
    outline: writeOutline(readTaxonomy(body)),
    json: JSON.stringify(body, null, 2),
    side: otherFields(body).length > 0 ? "json" : "outline",
  };
}

/** A tree as lines of “name: description”, indented by two spaces per level. Colons in names are escaped with a backslash. */
export function writeOutline(nodes: readonly TaxonomyNode[], indent = ""): string {
  return nodes
    .map(({ name, description, children }) => {
      const line = indent + name.replace(/:(?=\s|$)/g, "\\:") + (description && `: ${description}`);
      return children.length === 0 ? line : `${line}\n${writeOutline(children, `${indent}  `)}`;
    })
    .join("\n");
}

type Body = Record<string, unknown> | unknown[];

/** The parsed tree, the body to store, and the issues. */
export function readTree({ outline, json, side }: TreeDraft): {
  nodes: TaxonomyNode[];
  body: Body | undefined;
  issues: string[];
} {
  if (side !== "json") {
    const { nodes, issues } = readOutline(outline);
    const texts = issues.map(({ line, text }) => `Line ${line} ${text}.`);
    return { nodes, body: writeTaxonomy(nodes), issues: [...texts, ...issuesOfSize(nodes)] };
  }
  const parsed = parseJson(json);
  if ("issue" in parsed) return { nodes: [], body: undefined, issues: [parsed.issue] };
  const nodes = readTaxonomy(parsed.value);
  return isBody(parsed.value)
    ? { nodes, body: parsed.value, issues: issuesOfSize(nodes) }
    : { nodes, body: undefined, issues: ["The tree must be an object or a list."] };
}

interface OutlineIssue {
  /** From 1. */
  line: number;
  text: string;
}

/** Parses an outline as far as possible. Any indentation works. */
export function readOutline(text: string): { nodes: TaxonomyNode[]; issues: OutlineIssue[] } {
  const roots: TaxonomyNode[] = [];
  const issues: OutlineIssue[] = [];
  /** The open categories, outermost first. */
  let open: { indent: number; siblings: TaxonomyNode[] }[] = [{ indent: 0, siblings: roots }];

  for (const [index, source] of text.split("\n").entries()) {
    if (source.trim() === "") continue;
    const line = index + 1;
    const indent = indentOf(source);
    const node = readLine(source.trim());
    if (node.name === "") issues.push({ line, text: "has no name" });
    const innermost = open.at(-1) ?? { indent: 0, siblings: roots };
    const parent = innermost.siblings.at(-1);
    if (indent > innermost.indent && parent !== undefined) {
      open.push({ indent, siblings: parent.children });
    } else {
      if (!open.some((level) => level.indent === indent)) {
        issues.push({ line, text: "does not line up with any line above it" });
      }
      open = open.filter((level, depth) => depth === 0 || level.indent <= indent);
    }
    const siblings = open.at(-1)?.siblings ?? roots;
    if (siblings.some(({ name }) => name === node.name)) {
      issues.push({ line, text: `repeats “${node.name}” in the same category` });
    }
    siblings.push(node);
  }
  return { nodes: roots, issues };
}

function indentOf(source: string): number {
  const [space = ""] = /^\s*/.exec(source) ?? [];
  return space.replaceAll("\t", "  ").length;
}

function readLine(text: string): TaxonomyNode {
  const colon = /(?<!\\):(?=\s|$)/.exec(text);
  const name = colon === null ? text : text.slice(0, colon.index);
  const description = colon === null ? "" : text.slice(colon.index + 1);
  return { name: name.replaceAll("\\:", ":").trim(), description: description.trim(), children: [] };
}

type Written = Record<string, unknown>;

/** The body of a tree, in the format of the built-in taxonomies. */
export function writeTaxonomy(nodes: readonly TaxonomyNode[]): Written {
  return { [keyOf(nodes)]: nodes.map(writeNode) };
}

function keyOf(nodes: readonly TaxonomyNode[]): string {
  if (nodes.every(({ children }) => children.length === 0)) return "errors";
  return nodes.every(({ children }) => children.length > 0) ? "categories" : "children";
}

function writeNode({ name, description, children }: TaxonomyNode): Written {
  return {
    name,
    ...(description !== "" && { description }),
    ...(children.length > 0 && { [keyOf(children)]: children.map(writeNode) }),
  };
}

function issuesOfSize(nodes: readonly TaxonomyNode[]): string[] {
  const leaves = countLeaves(nodes);
  if (leaves <= maxKindsOfError) return [];
  return [`There are ${leaves} kinds of error; the maximum is ${maxKindsOfError}.`];
}

function isBody(value: unknown): value is Body {
  return typeof value === "object" && value !== null;
}

/** Continues with the same tree on the other side. Fails if the text is invalid. */
export function switchSide(draft: TreeDraft, side: "outline" | "json"): Partial<TreeDraft> {
  if (side === "outline") {
    const parsed = parseJson(draft.json);
    return "issue" in parsed ? {} : { side, outline: writeOutline(readTaxonomy(parsed.value)) };
  }
  const { nodes, issues } = readOutline(draft.outline);
  if (issues.length > 0) return {};
  const parsed = parseJson(draft.json);
  const isSame = "value" in parsed && writeOutline(readTaxonomy(parsed.value)) === writeOutline(nodes);
  // An unchanged outline must not drop fields that only the JSON contains.
  return isSame ? { side } : { side, json: JSON.stringify(writeTaxonomy(nodes), null, 2) };
}
