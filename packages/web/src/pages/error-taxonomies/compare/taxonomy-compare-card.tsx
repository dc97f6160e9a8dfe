import { readTaxonomy, type TaxonomyNode } from "@presage/contract/read-taxonomy";
import type { ErrorTaxonomyRevision } from "@presage/sdk";
import { Card } from "../../../ui/card.tsx";
import { RevisionSelect } from "../../../ui/form/revision-select.tsx";
import { taxonomyChanges } from "./taxonomy-changes.ts";
import { TaxonomyChangesView } from "./taxonomy-changes-view.tsx";

interface TaxonomyCompareCardProps {
  /** Those that the shown one can be compared with, newest first. */
  others: readonly ErrorTaxonomyRevision[];
  newest: number;
  against: ErrorTaxonomyRevision;
  revision: ErrorTaxonomyRevision;
  nodes: readonly TaxonomyNode[];
  onChoose(against: number): void;
}

/** What became of the tree between another revision and the one that is shown. */
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
