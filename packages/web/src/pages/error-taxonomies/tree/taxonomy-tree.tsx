import type { TaxonomyNode } from "@presage/contract/read-taxonomy";
import { clsx } from "clsx";
import { ChevronRight } from "lucide-react";
import { useId } from "react";
import { formatCount } from "../../../format/numbers.ts";
import { Explained } from "../../../ui/tooltip.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import type { CountFindings } from "./tree-nodes.ts";
import { type NodePath, pathKey } from "./tree-nodes.ts";

interface Findings {
  countOf: CountFindings;
  /** Evaluations with a verdict. */
  evaluated: number;
  /** The count of the most frequent kind. */
  most: number;
}

interface TaxonomyTreeProps {
  nodes: readonly TaxonomyNode[];
  /** Path keys of the collapsed categories. */
  collapsed: ReadonlySet<string>;
  onCollapse(collapsed: ReadonlySet<string>): void;
  findings?: Findings | undefined;
  choice?: Choice | undefined;
}

/** The chosen kind, by the key of its path. */
interface Choice {
  chosen: string | undefined;
  onChoose(kind: string): void;
}

/** The tree as nested lists with collapsible categories. */
export function TaxonomyTree({ nodes, collapsed, onCollapse, findings, choice }: TaxonomyTreeProps) {
  function toggle(path: NodePath) {
    const next = new Set(collapsed);
    if (!next.delete(pathKey(path))) next.add(pathKey(path));
    onCollapse(next);
  }
  return (
    <Nodes
      nodes={nodes}
      above={[]}
      collapsed={collapsed}
      onToggle={toggle}
      findings={findings}
      choice={choice}
    />
  );
}

interface NodesProps {
  nodes: readonly TaxonomyNode[];
  above: NodePath;
  collapsed: ReadonlySet<string>;
  onToggle(path: NodePath): void;
  findings: Findings | undefined;
  choice: Choice | undefined;
}

function Nodes({ nodes, above, collapsed, onToggle, findings, choice }: NodesProps) {
  return (
    <ul className={clsx(above.length === 0 ? "py-2" : "ml-4.5 border-l border-line sm:ml-6.5")}>
      {nodes.map((node, index) => (
        <Node
          // biome-ignore lint/suspicious/noArrayIndexKey: two nodes may have the same name
          key={`${index} ${node.name}`}
          node={node}
          path={[...above, node.name]}
          collapsed={collapsed}
          onToggle={onToggle}
          findings={findings}
          choice={choice}
        />
      ))}
    </ul>
  );
}

interface NodeProps extends Omit<NodesProps, "nodes" | "above"> {
  node: TaxonomyNode;
  path: NodePath;
}

function Node({ node, path, collapsed, onToggle, findings, choice }: NodeProps) {
  const listId = useId();
  const isCategory = node.children.length > 0;
  const isOpen = !collapsed.has(pathKey(path));
  const isChosen = choice?.chosen === pathKey(path);
  const name = (
    <>
      <InlineText text={node.name} />
      <Description text={node.description} />
    </>
  );
  return (
    <li>
      <div
        className={clsx(
          "flex min-h-9 flex-wrap items-center gap-x-3 px-3 py-1",
          isChosen ? "bg-accent-soft" : "hover:bg-hover",
        )}
      >
        {/* On narrow screens, the figures of deep nodes are below the name. */}
        <div className="flex min-w-0 flex-1 basis-44 items-start gap-1">
          {isCategory ? (
            <button
              type="button"
              aria-expanded={isOpen}
              aria-controls={isOpen ? listId : undefined}
              className="flex min-w-0 items-start gap-1 rounded text-left text-sm font-medium"
              onClick={() => onToggle(path)}
            >
              <ChevronRight
                className={clsx(
                  "mt-0.5 size-4 shrink-0 text-ink-3 transition-transform",
                  isOpen && "rotate-90",
                )}
                aria-hidden
              />
              <span className="min-w-0 wrap-anywhere">{name}</span>
            </button>
          ) : choice === undefined ? (
            <p className="min-w-0 pl-2 text-sm wrap-anywhere">{name}</p>
          ) : (
            <button
              type="button"
              aria-pressed={isChosen}
              onClick={() => choice.onChoose(pathKey(path))}
              className="min-w-0 flex-1 rounded pl-2 text-left text-sm wrap-anywhere"
            >
              {name}
            </button>
          )}
        </div>
        {findings !== undefined && (
          <FindingCount
            count={findings.countOf(path, node)}
            evaluated={findings.evaluated}
            most={findings.most}
            isCategory={isCategory}
          />
        )}
      </div>
      {isCategory && isOpen && (
        <div id={listId}>
          <Nodes
            nodes={node.children}
            above={path}
            collapsed={collapsed}
            onToggle={onToggle}
            findings={findings}
            choice={choice}
          />
        </div>
      )}
    </li>
  );
}

function Description({ text }: { text: string }) {
  if (text === "") return null;
  return (
    <span className="block text-xs font-normal wrap-anywhere text-ink-3">
      <bdi>{text}</bdi>
    </span>
  );
}

interface FindingCountProps {
  count: number;
  /** Evaluations with a verdict. */
  evaluated: number;
  most: number;
  /** An evaluation may count under several kinds of a category, so their sum is not a share. */
  isCategory: boolean;
}

/** How often an error was found. It is no share, which would pool the evaluations of different runs. */
function FindingCount({ count, evaluated, most, isCategory }: FindingCountProps) {
  return (
    <span className="ml-auto flex shrink-0 items-center gap-2">
      {!isCategory && most > 0 && (
        <span aria-hidden className="h-1.5 w-20 max-sm:hidden overflow-hidden rounded-full bg-sunken">
          <span className="block h-full rounded-full bg-fail" style={{ width: `${(100 * count) / most}%` }} />
        </span>
      )}
      <Explained
        text={
          isCategory
            ? `Findings of all kinds of this category together. An evaluation can have several.`
            : `Found in ${formatCount(count)} of ${formatCount(evaluated)} evaluations with this revision, in runs or without one.`
        }
        className={clsx("w-12 text-right text-xs tabular-nums", count === 0 ? "text-ink-3" : "font-medium")}
      >
        {formatCount(count)}
        <span className="sr-only"> found</span>
      </Explained>
    </span>
  );
}
