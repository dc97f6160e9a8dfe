import type { Headline, World } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, useNavigate } from "@tanstack/react-router";
import { Orbit, Plus } from "lucide-react";
import { useMemo, useState } from "react";
import { useRefusal } from "../../data/accounts.ts";
import { usePresage } from "../../data/client.ts";
import { headlinesQuery } from "../../data/runs.ts";
import { isThrough, referenceOf, worldsQuery } from "../../data/worlds.ts";
import { AllowedButton } from "../../parts/allowed.tsx";
import { ExampleOffer } from "../../parts/example.tsx";
import { HeadlineRate, MeasureLink } from "../../parts/runs.tsx";
import { answererOf } from "../../parts/worlds.ts";
import { inPlace } from "../../search-params.ts";
import { Card } from "../../ui/card.tsx";
import type { DataColumn } from "../../ui/data-table/columns.ts";
import { DataTable } from "../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../ui/data-table/table-model.ts";
import { TableTools } from "../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../ui/data-table/table-view.ts";
import { EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { WorldDialog } from "./world-dialog.tsx";

export const worldsRoute = createLazyRoute("/worlds")({ component: WorldsPage });

/** A world with the figures of its newest run; null while not known. */
type WorldRow = World & { latest: Headline | undefined | null };

const columns: DataColumn<WorldRow>[] = [
  {
    id: "name",
    label: "Name",
    value: ({ name }) => name,
    cell: ({ name, revision, config }) => (
      <>
        <span className="block truncate">
          <span className="font-medium text-ink">{name}</span>
          <span className="text-ink-3">@{revision}</span>
        </span>
        {config.description && (
          <span className="block truncate text-xs text-ink-3">
            <InlineText text={config.description} />
          </span>
        )}
      </>
    ),
    widthPx: 180,
    isElastic: true,
    isFixed: true,
  },
  {
    id: "rate",
    label: "Pass rate",
    hint: "Of its newest run, with the 95\u00a0% interval. The mark is the best baseline.",
    value: ({ latest }) => latest?.run.headline?.pass_rate,
    cell: ({ latest, ...world }) =>
      latest === undefined ? (
        <MeasureLink size="small" world={world} />
      ) : (
        <HeadlineRate of={latest ?? undefined} />
      ),
    widthPx: 304,
  },
  {
    id: "answers",
    label: "Answers by",
    hint: "A deployment that is shown the examples, or the records alone, without a model",
    value: ({ config }) => answererOf(config),
    widthPx: 176,
  },
  {
    id: "confidence",
    label: "Confidence",
    hint: "Whether it tells how sure it is, and whether that is calibrated",
    value: ({ config, pinned }) =>
      pinned.calibration ? "calibrated" : config.confidence ? "not calibrated" : undefined,
    widthPx: 128,
  },
  {
    id: "examples",
    label: "Examples",
    hint: "Recorded transitions that it finds the most similar ones in",
    value: ({ pinned }) => pinned.examples?.count ?? 0,
    isNumber: true,
    widthPx: 96,
  },
  {
    id: "trajectories",
    label: "Trajectories",
    value: ({ pinned }) => pinned.examples?.trajectories ?? 0,
    isNumber: true,
    widthPx: 112,
  },
  {
    id: "dataset",
    label: "Dataset",
    value: ({ pinned }) => pinned.examples?.dataset,
    cell: ({ pinned: { examples } }) =>
      examples === null ? (
        <span className="text-ink-3">none</span>
      ) : (
        <span className="block truncate">
          <InlineText text={examples.dataset} />{" "}
          <span className="text-xs text-ink-3">revision {examples.revision}</span>
        </span>
      ),
    widthPx: 184,
  },
  {
    id: "revised",
    label: "Revised",
    hint: "When its latest revision was made",
    value: ({ revised_at }) => revised_at,
    isNewestFirst: true,
    widthPx: 128,
  },
];

function WorldsPage() {
  const navigate = useNavigate();
  const mayMake = useRefusal("evaluate") === undefined;
  const { dataset: asked } = worldsRoute.useSearch();
  const dataset = mayMake ? asked : undefined;
  const [isNewOpen, setNewOpen] = useState(false);
  const presage = usePresage();
  const worlds = useQuery(worldsQuery(presage));
  const { data: headlines } = useQuery(headlinesQuery(presage));
  const rows = useMemo(
    () =>
      worlds.data?.map((world) => ({
        ...world,
        latest: headlines === undefined ? null : headlines.find(({ run }) => isThrough(world.name, run)),
      })),
    [worlds.data, headlines],
  );
  const view = useTableView("worlds", columns, { isInAddress: true });
  const table = useDataTable({
    label: "Worlds",
    view,
    columns,
    rows,
    rowId: ({ name }) => name,
    rowName: referenceOf,
    link: ({ name }) => ({ to: "/worlds/$name", params: { name } }),
    spare: ["trajectories", "revised", "examples", "dataset", "confidence"],
    isMain: true,
  });
  const newWorld = (
    <AllowedButton
      needs="evaluate"
      variant="primary"
      icon={<Plus aria-hidden />}
      onClick={() => setNewOpen(true)}
    >
      New world
    </AllowedButton>
  );
  return (
    <Page
      title="Worlds"
      hint="A world predicts from recorded examples, with a model or without."
      actions={newWorld}
    >
      {worlds.error !== null && <ErrorNotice error={worlds.error} onRetry={worlds.refetch} />}
      {(worlds.data !== undefined || worlds.error === null) && (
        <Card title="All worlds" actions={<TableTools table={table} />}>
          <DataTable
            table={table}
            expectedRows={3}
            empty={
              <EmptyState
                icon={Orbit}
                title="No worlds yet"
                actions={
                  <>
                    <AllowedButton needs="evaluate" onClick={() => setNewOpen(true)}>
                      Make one of a dataset
                    </AllowedButton>
                    <ExampleOffer />
                  </>
                }
              >
                A world finds the recorded steps that are most like the one that is asked for, and answers
                from them: by itself, or by showing them to a model.
              </EmptyState>
            }
          />
        </Card>
      )}
      <WorldDialog
        isOpen={isNewOpen || dataset !== undefined}
        dataset={dataset}
        onClose={() => {
          setNewOpen(false);
          void navigate({ to: "/worlds", search: ({ dataset: _, ...rest }) => rest, ...inPlace });
        }}
        onSaved={({ name }) => navigate({ to: "/worlds/$name", params: { name } })}
      />
    </Page>
  );
}
