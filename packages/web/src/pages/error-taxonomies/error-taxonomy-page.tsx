import { readTaxonomy } from "@presage/contract/read-taxonomy";
import type { ErrorTaxonomyRevision } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, useNavigate } from "@tanstack/react-router";
import { Copy, Pencil } from "lucide-react";
import { useMemo, useState } from "react";
import { usePresage } from "../../data/client.ts";
import { isBuiltIn, recentFindingsQuery, taxonomyRevisionsQuery } from "../../data/taxonomies.ts";
import { plainName } from "../../format/words.ts";
import { AllowedButton } from "../../parts/allowed.tsx";
import { UnavailablePage } from "../../parts/unavailable-page.tsx";
import { inPlace } from "../../search-params.ts";
import { Page } from "../../ui/page.tsx";
import { TaxonomyCompareCard } from "./compare/taxonomy-compare-card.tsx";
import { TaxonomyDialog } from "./edit/taxonomy-dialog.tsx";
import { RevisionBar } from "./labels/revision-bar.tsx";
import type { TaxonomySearch } from "./taxonomy-search.ts";
import { KindCard, KindsCard } from "./tree/kinds-card.tsx";
import { NotUsedCard } from "./tree/not-used-card.tsx";
import { mostFrequentKind } from "./tree/tree-nodes.ts";

export const errorTaxonomyRoute = createLazyRoute("/error-taxonomies/$taxonomyId")({
  component: ErrorTaxonomyPage,
});

function ErrorTaxonomyPage() {
  const { taxonomyId } = errorTaxonomyRoute.useParams();
  const presage = usePresage();
  const revisions = useQuery(taxonomyRevisionsQuery(presage, taxonomyId));
  const newest = revisions.data?.[0];
  if (revisions.data !== undefined && newest !== undefined) {
    return <Taxonomy key={taxonomyId} revisions={revisions.data} newest={newest} />;
  }
  return (
    <UnavailablePage
      title="Error taxonomy"
      query={revisions}
      link={{ to: "/error-taxonomies", children: "All error taxonomies" }}
    />
  );
}

interface TaxonomyProps {
  /** Newest first. */
  revisions: readonly ErrorTaxonomyRevision[];
  newest: ErrorTaxonomyRevision;
}

function Taxonomy({ revisions, newest }: TaxonomyProps) {
  const search = errorTaxonomyRoute.useSearch();
  const navigate = errorTaxonomyRoute.useNavigate();
  const shown = revisions.find(({ revision }) => revision === search.revision) ?? newest;
  const nodes = useMemo(() => readTaxonomy(shown.body), [shown.body]);
  const recent = useQuery(recentFindingsQuery(usePresage(), shown.id));
  const kind = search.kind ?? mostFrequentKind(recent.data);
  const others = revisions.filter(({ id }) => id !== shown.id);
  const against =
    others.find(({ revision }) => revision === search.against) ??
    others.find(({ revision }) => revision < shown.revision) ??
    others.at(-1);
  const change = (next: TaxonomySearch) => navigate({ search: next, ...inPlace });
  return (
    <Page
      title={plainName(newest.error_taxonomy_name)}
      hint={
        <>
          {newest.error_taxonomy_description}
          {isBuiltIn(newest) && (
            <>
              {" "}
              It is built in and can be copied, not changed; profiles name it{" "}
              <code className="font-mono text-xs">{newest.error_taxonomy_name}</code>.
            </>
          )}
        </>
      }
      actions={<TaxonomyActions revision={shown} newest={newest} />}
    >
      <RevisionBar
        revisions={revisions}
        revision={shown}
        isBuiltIn={isBuiltIn(newest)}
        onChoose={(revision) => navigate({ search: { revision }, replace: true })}
      />
      <div className="grid min-w-0 items-start gap-4 lg:grid-cols-[3fr_2fr]">
        <KindsCard
          key={shown.id}
          revision={shown}
          nodes={nodes}
          chosen={kind}
          onChoose={(kind) => change({ ...search, kind })}
        />
        {recent.data?.evaluated === 0 ? (
          <NotUsedCard revision={shown} others={others} />
        ) : (
          <KindCard
            recent={recent}
            kind={kind}
            by={search.by ?? "model"}
            onBy={(by) => {
              const { by: _, ...rest } = search;
              change({ ...rest, ...(by === "run" && { by }) });
            }}
            openId={search.result}
            onOpen={(result) => {
              const { result: _, ...rest } = search;
              change({ ...rest, ...(result !== undefined && { result }) });
            }}
          />
        )}
      </div>
      {against !== undefined && (
        <TaxonomyCompareCard
          others={others}
          newest={newest.revision}
          against={against}
          revision={shown}
          nodes={nodes}
          onChoose={(against) => navigate({ search: { revision: shown.revision, against }, replace: true })}
        />
      )}
    </Page>
  );
}

interface TaxonomyActionsProps {
  /** The revision on the page. */
  revision: ErrorTaxonomyRevision;
  newest: ErrorTaxonomyRevision;
}

function TaxonomyActions({ revision, newest }: TaxonomyActionsProps) {
  const [open, setOpen] = useState<"copy" | "revise">();
  const navigate = useNavigate();
  const close = () => setOpen(undefined);

  function show({ error_taxonomy_id }: ErrorTaxonomyRevision) {
    close();
    // No revision in the URL means the newest, which is the new one.
    return navigate({ to: "/error-taxonomies/$taxonomyId", params: { taxonomyId: error_taxonomy_id } });
  }

  return (
    <>
      <AllowedButton needs="evaluate" icon={<Copy aria-hidden />} onClick={() => setOpen("copy")}>
        Copy
      </AllowedButton>
      {!isBuiltIn(revision) && (
        <AllowedButton
          needs="evaluate"
          variant="primary"
          icon={<Pencil aria-hidden />}
          onClick={() => setOpen("revise")}
        >
          New revision
        </AllowedButton>
      )}
      <TaxonomyDialog
        isOpen={open === "copy"}
        onClose={close}
        title={`Copy ${plainName(revision.error_taxonomy_name)}`}
        hint={`Creates a taxonomy of your own from revision ${revision.revision}.`}
        origin={revision}
        isNewTaxonomy
        onSaved={show}
      />
      <TaxonomyDialog
        isOpen={open === "revise"}
        onClose={close}
        title={`New revision of ${revision.error_taxonomy_name}`}
        hint={`Starts from revision ${revision.revision} and becomes revision ${newest.revision + 1}. Labels stay where they are.`}
        origin={revision}
        isNewTaxonomy={false}
        onSaved={show}
      />
    </>
  );
}
