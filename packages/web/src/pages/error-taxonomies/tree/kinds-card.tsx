import type { TaxonomyNode } from "@presage/contract/read-taxonomy";
import type { ErrorTaxonomyRevision } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePresage } from "../../../data/client.ts";
import { taxonomyFindingsQuery } from "../../../data/taxonomies.ts";
import { formatCount } from "../../../format/numbers.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { TaxonomyTree } from "./taxonomy-tree.tsx";
import { countFindings, countLeaves, pathKey, walkNodes } from "./tree-nodes.ts";

interface KindsCardProps {
  revision: ErrorTaxonomyRevision;
  nodes: readonly TaxonomyNode[];
  /** The key of the path of the chosen kind. */
  chosen: string | undefined;
  onChoose(kind: string): void;
}

/** A revision's tree, and how often each kind of error was found. */
export function KindsCard({ revision, nodes, chosen, onChoose }: KindsCardProps) {
  const presage = usePresage();
  const findings = useQuery(taxonomyFindingsQuery(presage, revision.id));
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const leaves = countLeaves(nodes);
  const categories = walkNodes(nodes).filter(({ node }) => node.children.length > 0);
  return (
    <Card
      title={`${formatCount(leaves)} ${leaves === 1 ? "kind" : "kinds"} of error`}
      actions={
        categories.length > 1 && (
          <Button
            size="small"
            variant="quiet"
            onClick={() =>
              setCollapsed(new Set(collapsed.size > 0 ? [] : categories.map(({ path }) => pathKey(path))))
            }
          >
            {collapsed.size > 0 ? "Expand all" : "Collapse all"}
          </Button>
        )
      }
      hint={findings.data === undefined ? "…" : describeEvaluated(findings.data.evaluated)}
    >
      {findings.isError && (
        <div className="p-4">
          <ErrorNotice error={findings.error} onRetry={() => findings.refetch()} />
        </div>
      )}
      {nodes.length === 0 ? (
        <p className="px-4 py-3 text-sm text-ink-2">This revision has no kinds of error.</p>
      ) : (
        <TaxonomyTree
          nodes={nodes}
          collapsed={collapsed}
          onCollapse={setCollapsed}
          choice={{ chosen, onChoose }}
          findings={
            findings.data && findings.data.evaluated > 0
              ? { countOf: countFindings(findings.data.findings), evaluated: findings.data.evaluated }
              : undefined
          }
        />
      )}
    </Card>
  );
}

function describeEvaluated(count: number): string {
  if (count === 0) return "No evaluation has used this revision yet.";
  return `How often each was found in ${formatCount(count)} ${count === 1 ? "evaluation" : "evaluations"} with this revision. An evaluation can find several.`;
}
