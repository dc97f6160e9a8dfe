import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, useNavigate } from "@tanstack/react-router";
import { ListTree, Plus } from "lucide-react";
import { useState } from "react";
import { findQueryError, usePresage } from "../../data/client.ts";
import { isBuiltIn, labelledTaxonomiesQuery, latestTaxonomiesQuery } from "../../data/taxonomies.ts";
import { AllowedButton } from "../../parts/allowed.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { TaxonomyDialog } from "./edit/taxonomy-dialog.tsx";
import { TaxonomyTable } from "./taxonomy-table.tsx";

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
      hint="Trees of errors that a judge looks for in outputs."
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
      <Card title="Built-in">
        <TaxonomyTable
          label="Built-in error taxonomies"
          taxonomies={latest.data.filter(isBuiltIn)}
          inProduction={production.data}
        />
      </Card>
    </>
  );
}
