import { readTaxonomy } from "@presage/contract/read-taxonomy";
import type { ErrorTaxonomyRevision } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { isBuiltIn } from "../../data/taxonomies.ts";
import { formatCount } from "../../format/numbers.ts";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { LabelBadge } from "./labels/labels.tsx";
import { countLeaves } from "./tree/tree-nodes.ts";

interface TaxonomyTableProps {
  label: string;
  /** The newest revision of each. */
  taxonomies: readonly ErrorTaxonomyRevision[];
  /** Revisions with the label “production”, the default for evaluations; undefined while loading. */
  inProduction: readonly ErrorTaxonomyRevision[] | undefined;
}

export function TaxonomyTable({ label, taxonomies, inProduction }: TaxonomyTableProps) {
  return (
    <Table label={label} className="min-w-4xl table-fixed">
      <thead className="border-b border-line">
        <tr>
          <HeaderCell>Name</HeaderCell>
          <HeaderCell isNumber className="w-20">
            Kinds
          </HeaderCell>
          <HeaderCell isNumber className="w-24">
            Revisions
          </HeaderCell>
          <HeaderCell isNumber className="w-32">
            In production
          </HeaderCell>
          <HeaderCell className="w-44">Newest labels</HeaderCell>
          <HeaderCell isNumber className="w-36">
            Changed
          </HeaderCell>
        </tr>
      </thead>
      <tbody>
        {taxonomies.map((taxonomy) => (
          <tr
            key={taxonomy.error_taxonomy_id}
            className="relative h-12 border-b border-line last:border-b-0 hover:bg-hover"
          >
            <RowHeader>
              <Link
                to="/error-taxonomies/$taxonomyId"
                params={{ taxonomyId: taxonomy.error_taxonomy_id }}
                // Makes the whole row clickable.
                className="block font-medium wrap-anywhere after:absolute after:inset-0"
              >
                {taxonomy.error_taxonomy_name}
              </Link>
              {taxonomy.error_taxonomy_description && (
                <span className="block truncate text-xs text-ink-3">
                  {taxonomy.error_taxonomy_description}
                </span>
              )}
            </RowHeader>
            <Cell isNumber>{formatCount(countLeaves(readTaxonomy(taxonomy.body)))}</Cell>
            <Cell isNumber>{formatCount(taxonomy.revision)}</Cell>
            <Cell isNumber>
              {inProduction && <InProduction taxonomy={taxonomy} revisions={inProduction} />}
            </Cell>
            <Cell>
              <span className="flex min-w-0 flex-wrap gap-1">
                {taxonomy.labels.map((name) => (
                  <LabelBadge key={name} label={name} onRemove={undefined} />
                ))}
              </span>
            </Cell>
            <Cell isNumber className="text-ink-2">
              {isBuiltIn(taxonomy) ? "–" : <Time at={taxonomy.created_at} />}
            </Cell>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function InProduction({
  taxonomy,
  revisions,
}: {
  taxonomy: ErrorTaxonomyRevision;
  revisions: readonly ErrorTaxonomyRevision[];
}) {
  const found = revisions.find(({ error_taxonomy_id }) => error_taxonomy_id === taxonomy.error_taxonomy_id);
  if (found === undefined) return <span className="text-ink-3">None</span>;
  return found.revision;
}
