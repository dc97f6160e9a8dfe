import type { TaxonomyNode } from "@presage/contract/read-taxonomy";

export interface OutlineIssue {
  /** From 1. */
  line: number;
  text: string;
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
