import { readTaxonomy, type TaxonomyNode } from "@presage/contract/read-taxonomy";
import type { ErrorTaxonomyRevision } from "@presage/sdk";
import { Badge, type Tone } from "../../../ui/badge.tsx";
import { Card } from "../../../ui/card.tsx";
import { RevisionSelect } from "../../../ui/form/select.tsx";
import { pathKey, type TaxonomyChange, taxonomyChanges } from "../tree/tree-nodes.ts";

interface TaxonomyCompareCardProps {
  /** The revisions to compare with, newest first. */
  others: readonly ErrorTaxonomyRevision[];
  newest: number;
  against: ErrorTaxonomyRevision;
  revision: ErrorTaxonomyRevision;
  nodes: readonly TaxonomyNode[];
  onChoose(against: number): void;
}

/** Compares the revision on the page with another. */
export function TaxonomyCompareCard({
  others,
  newest,
  against,
  revision,
  nodes,
  onChoose,
}: TaxonomyCompareCardProps) {
  const [before, after] =
    against.revision < revision.revision
      ? [readTaxonomy(against.body), nodes]
      : [nodes, readTaxonomy(against.body)];
  const changes = taxonomyChanges(before, after);
  const from = Math.min(against.revision, revision.revision);
  const to = Math.max(against.revision, revision.revision);
  return (
    <Card
      title={`What changed from ${from} to ${to}`}
      actions={
        <span className="flex w-full items-center gap-2 text-sm text-ink-2 sm:w-auto">
          Compare with
          <RevisionSelect
            label="Compare with revision"
            revisions={others.map(({ revision, labels }) => ({ revision, note: labels.join(", ") }))}
            newest={newest}
            value={against.revision}
            onChange={onChoose}
          />
        </span>
      }
    >
      {changes.length === 0 ? (
        <p className="px-4 py-3 text-sm text-ink-2">Both have the same tree.</p>
      ) : (
        <TaxonomyChangesView changes={changes} />
      )}
    </Card>
  );
}

const words: Record<TaxonomyChange["kind"], { label: string; tone: Tone }> = {
  added: { label: "Added", tone: "pass" },
  removed: { label: "Removed", tone: "fail" },
  described: { label: "Description changed", tone: "neutral" },
};

function TaxonomyChangesView({ changes }: { changes: readonly TaxonomyChange[] }) {
  return (
    <ul>
      {changes.map((change) => (
        <li
          key={`${change.kind} ${pathKey(change.path)}`}
          className="flex flex-col gap-1 border-b border-line px-4 py-2.5 last:border-b-0"
        >
          <p className="flex flex-wrap items-center gap-2 text-sm">
            <Badge tone={words[change.kind].tone}>{words[change.kind].label}</Badge>
            <bdi className="wrap-anywhere">
              {change.path.length > 1 && (
                <span className="text-ink-3">{change.path.slice(0, -1).join(" / ")} / </span>
              )}
              {change.path.at(-1)}
            </bdi>
          </p>
          <Description change={change} />
        </li>
      ))}
    </ul>
  );
}

function Description({ change: { before, after } }: { change: TaxonomyChange }) {
  return (
    <div className="flex flex-col text-xs text-ink-2">
      {before !== "" && <del className="decoration-fail">{before}</del>}
      {after !== "" && <ins className="no-underline">{after}</ins>}
    </div>
  );
}
