import { readTaxonomy } from "@presage/contract/read-taxonomy";
import type { ErrorTaxonomyRevision } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link, useNavigate } from "@tanstack/react-router";
import { ListTree, Plus } from "lucide-react";
import { useState } from "react";
import { findQueryError, usePresage } from "../../data/client.ts";
import {
  isBuiltIn,
  labelledTaxonomiesQuery,
  latestTaxonomiesQuery,
  taxonomyFindingsQuery,
} from "../../data/taxonomies.ts";
import { formatCount } from "../../format/numbers.ts";
import { plainName } from "../../format/words.ts";
import { AllowedButton } from "../../parts/allowed.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { TaxonomyDialog } from "./edit/taxonomy-dialog.tsx";
import { LabelBadge } from "./labels/labels.tsx";
import { countLeaves } from "./tree/tree-nodes.ts";

export const errorTaxonomiesRoute = createLazyRoute("/error-taxonomies")({ component: ErrorTaxonomiesPage });

function ErrorTaxonomiesPage() {
  const [isNewOpen, setNewOpen] = useState(false);
  const navigate = useNavigate();
  const newButton = (
    <AllowedButton
      needs="evaluate"
      variant="primary"
      icon={<Plus aria-hidden />}
      onClick={() => setNewOpen(true)}
    >
      New taxonomy
    </AllowedButton>
  );
  return (
    <Page
      title="Error taxonomies"
      hint="Trees of the kinds of error that a judge looks for. A profile uses the revision with its label, mostly production."
      actions={newButton}
    >
      <Taxonomies onCreate={() => setNewOpen(true)} />
      <TaxonomyDialog
        isOpen={isNewOpen}
        onClose={() => setNewOpen(false)}
        title="New taxonomy"
        hint="Creates revision 1. A revision’s tree never changes; every change becomes a new revision."
        isNewTaxonomy
        onSaved={({ error_taxonomy_id }) =>
          navigate({ to: "/error-taxonomies/$taxonomyId", params: { taxonomyId: error_taxonomy_id } })
        }
      />
    </Page>
  );
}

function Taxonomies({ onCreate }: { onCreate(): void }) {
  const presage = usePresage();
  const latest = useQuery(latestTaxonomiesQuery(presage));
  const production = useQuery(labelledTaxonomiesQuery(presage, "production"));
  const failure = findQueryError([latest, production]);
  const notice = failure && <ErrorNotice error={failure.error} onRetry={failure.retry} />;
  if (latest.data === undefined) {
    return (
      notice ?? (
        <Card>
          <SkeletonRows count={4} className="h-9" />
        </Card>
      )
    );
  }
  const own = latest.data.filter((taxonomy) => !isBuiltIn(taxonomy));
  return (
    <>
      {notice}
      <Card title="Yours">
        {own.length === 0 ? (
          <EmptyState
            icon={ListTree}
            title="No taxonomies of your own"
            actions={
              <AllowedButton needs="evaluate" onClick={onCreate}>
                New taxonomy
              </AllowedButton>
            }
          >
            Write one for the errors of your own environment, or copy a built-in one.
          </EmptyState>
        ) : (
          <TaxonomyTable label="Your error taxonomies" taxonomies={own} inProduction={production.data} />
        )}
      </Card>
      <Card title="Built in">
        <TaxonomyTable
          label="Built-in error taxonomies"
          taxonomies={latest.data.filter(isBuiltIn)}
          inProduction={production.data}
        />
      </Card>
    </>
  );
}

interface TaxonomyTableProps {
  label: string;
  /** The newest revision of each taxonomy. */
  taxonomies: readonly ErrorTaxonomyRevision[];
  /** Revisions with the label “production”, the default for evaluations; undefined while loading. */
  inProduction: readonly ErrorTaxonomyRevision[] | undefined;
}

export function TaxonomyTable({ label, taxonomies, inProduction }: TaxonomyTableProps) {
  return (
    <Table label={label} isStacked className="min-w-184 table-fixed">
      <thead className="border-b border-line">
        <tr>
          <HeaderCell>Name</HeaderCell>
          <HeaderCell className="w-52">Labels</HeaderCell>
          <HeaderCell isNumber className="w-32">
            <span title="By the revision in production, otherwise by the newest">Evaluations</span>
          </HeaderCell>
          <HeaderCell isNumber className="w-28">
            Kinds
          </HeaderCell>
          <HeaderCell isNumber className="w-24">
            Revisions
          </HeaderCell>
          <HeaderCell isNumber className="w-32">
            Changed
          </HeaderCell>
        </tr>
      </thead>
      <tbody>
        {taxonomies.map((taxonomy) => {
          const { error_taxonomy_id: id, revision, labels } = taxonomy;
          const used = inProduction?.find(({ error_taxonomy_id }) => error_taxonomy_id === id);
          const marks = [
            ...(used ? [`production r${used.revision}`] : []),
            ...labels.filter((name) => name !== "production").map((name) => `${name} r${revision}`),
          ];
          return (
            <tr key={id} className="relative h-12 border-b border-line last:border-b-0 hover:bg-hover">
              <RowHeader>
                <Link
                  to="/error-taxonomies/$taxonomyId"
                  params={{ taxonomyId: id }}
                  // Makes the whole row clickable.
                  className="block font-medium wrap-anywhere after:absolute after:inset-0"
                >
                  {plainName(taxonomy.error_taxonomy_name)}
                </Link>
                {taxonomy.error_taxonomy_description && (
                  <span className="line-clamp-3 text-xs text-ink-3">
                    {taxonomy.error_taxonomy_description}
                  </span>
                )}
              </RowHeader>
              <Cell>
                <span className="flex min-w-0 flex-wrap gap-1">
                  {marks.map((name) => (
                    <LabelBadge key={name} label={name} onRemove={undefined} />
                  ))}
                </span>
              </Cell>
              <Cell isNumber>{inProduction && <Evaluated revisionId={(used ?? taxonomy).id} />}</Cell>
              <Cell isNumber>
                {formatCount(countLeaves(readTaxonomy(taxonomy.body)))}
                {used && used.revision !== revision && (
                  <span className="block text-xs whitespace-nowrap text-ink-3">revision {revision}</span>
                )}
              </Cell>
              <Cell isNumber>{formatCount(revision)}</Cell>
              <Cell isNumber className="text-ink-2">
                {isBuiltIn(taxonomy) ? "Built in" : <Time at={taxonomy.created_at} />}
              </Cell>
            </tr>
          );
        })}
      </tbody>
    </Table>
  );
}

function Evaluated({ revisionId }: { revisionId: string }) {
  const { data } = useQuery(taxonomyFindingsQuery(usePresage(), revisionId));
  if (data === undefined) return "…";
  return data.evaluated === 0 ? <span className="text-ink-3">None</span> : formatCount(data.evaluated);
}
