import type { Dataset, Headline } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, useNavigate } from "@tanstack/react-router";
import { Database, Upload } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { useRefusal } from "../../data/accounts.ts";
import { usePresage } from "../../data/client.ts";
import { datasetsQuery } from "../../data/datasets.ts";
import { headlinesQuery } from "../../data/runs.ts";
import { counted } from "../../format/numbers.ts";
import { AllowedButton } from "../../parts/allowed.tsx";
import { TagList } from "../../parts/datasets.tsx";
import { ExampleNote, ExampleOffer } from "../../parts/example.tsx";
import { HeadlineRate } from "../../parts/runs.tsx";
import { Card } from "../../ui/card.tsx";
import type { DataColumn } from "../../ui/data-table/columns.ts";
import { DataTable } from "../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../ui/data-table/table-model.ts";
import { TableTools } from "../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../ui/data-table/table-view.ts";
import { EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { UploadDialog } from "./upload/upload-dialog.tsx";

export const datasetsRoute = createLazyRoute("/datasets")({ component: DatasetsPage });

function DatasetsPage() {
  const mayUpload = useRefusal("evaluate") === undefined;
  const isUploadOpen = datasetsRoute.useSearch().upload === true && mayUpload;
  const setUploadOpen = (isOpen: boolean) =>
    navigate({
      to: ".",
      search: ({ upload: _, ...rest }) => (isOpen ? { ...rest, upload: true } : rest),
      replace: !isOpen,
    });
  const navigate = useNavigate();
  const datasets = useQuery(datasetsQuery(usePresage()));
  const uploadButton = (
    <AllowedButton
      needs="evaluate"
      variant="primary"
      icon={<Upload aria-hidden />}
      onClick={() => setUploadOpen(true)}
    >
      Upload
    </AllowedButton>
  );
  return (
    <Page
      title="Datasets"
      hint="Recorded transitions of an environment: state, action, and what the environment answered."
      actions={uploadButton}
    >
      {datasets.error !== null && <ErrorNotice error={datasets.error} onRetry={datasets.refetch} />}
      {(datasets.data !== undefined || datasets.error === null) && (
        <DatasetTable
          datasets={datasets.data}
          empty={
            <EmptyState
              icon={Database}
              title="No datasets yet"
              actions={
                <>
                  <AllowedButton needs="evaluate" onClick={() => setUploadOpen(true)}>
                    Upload a file
                  </AllowedButton>
                  <ExampleOffer />
                </>
              }
            >
              A run predicts every sample of a dataset and says how far the model can be trusted. Upload
              recorded traces of an agent; <code className="font-mono">presage import</code> does the same.
            </EmptyState>
          }
        />
      )}
      <ExampleNote />
      <UploadDialog
        isOpen={isUploadOpen}
        onClose={() => setUploadOpen(false)}
        dataset={undefined}
        onUploaded={({ id }) => navigate({ to: "/datasets/$datasetId", params: { datasetId: id } })}
      />
    </Page>
  );
}

interface DatasetTableProps {
  /** Undefined while loading. */
  datasets: readonly Dataset[] | undefined;
  empty: ReactNode;
}

/** A dataset with the figures of its newest run. */
type DatasetRow = Dataset & { latest: Headline | undefined };

const columns: DataColumn<DatasetRow>[] = [
  {
    id: "name",
    label: "Name",
    value: ({ name }) => name,
    cell: ({ name, description }) => (
      <>
        <span className="block truncate font-medium text-ink">
          <InlineText text={name} />
        </span>
        {description !== null && description !== "" && (
          <span className="block truncate text-xs text-ink-3">
            <InlineText text={description} />
          </span>
        )}
      </>
    ),
    widthPx: 180,
    isElastic: true,
    isFixed: true,
  },
  {
    id: "revision",
    label: "Revision",
    hint: "The latest revision. A revision never changes; every upload of other lines is the next one.",
    value: ({ latest_revision }) => latest_revision?.revision,
    isNumber: true,
    widthPx: 96,
  },
  {
    id: "samples",
    label: "Samples",
    hint: "Transitions of the latest revision",
    value: ({ latest_revision }) => latest_revision?.samples,
    isNumber: true,
    widthPx: 104,
  },
  {
    id: "trajectories",
    label: "Trajectories",
    hint: "Trajectories of the latest revision: what intervals take as independent",
    value: ({ latest_revision }) => latest_revision?.trajectories,
    isNumber: true,
    widthPx: 112,
  },
  {
    id: "latest",
    label: "Newest run",
    hint: "The pass rate of the newest run over it, with the 95\u00a0% interval. The mark is the best baseline: how far one gets without a model.",
    value: ({ latest }) => latest?.run.headline?.pass_rate,
    cell: ({ latest }) => (
      <span className="block min-w-0">
        {latest && (
          <span className="block truncate text-xs">
            <InlineText text={latest.run.name} />
          </span>
        )}
        <HeadlineRate of={latest} />
      </span>
    ),
    widthPx: 380,
  },
  {
    id: "tags",
    label: "Tags",
    cell: ({ tags }) => <TagList tags={tags} />,
    widthPx: 180,
    isExtra: true,
  },
  {
    id: "made",
    label: "Created",
    hint: "When the dataset was created",
    value: ({ created_at }) => created_at,
    isNewestFirst: true,
    widthPx: 128,
  },
];

function DatasetTable({ datasets, empty }: DatasetTableProps) {
  const { data: headlines } = useQuery(headlinesQuery(usePresage()));
  const rows = useMemo(
    () =>
      datasets?.map((dataset) => ({
        ...dataset,
        latest: headlines?.find(({ run }) => run.dataset_id === dataset.id),
      })),
    [datasets, headlines],
  );
  const view = useTableView("datasets", columns, { isInAddress: true });
  const table = useDataTable({
    label: "Datasets",
    view,
    columns,
    rows,
    rowId: ({ id }) => id,
    rowName: ({ name }) => name,
    link: ({ id }) => ({ to: "/datasets/$datasetId", params: { datasetId: id } }),
    spare: ["revision", "made", "trajectories"],
    isMain: true,
  });
  return (
    <Card
      title={rows === undefined ? "…" : counted(rows.length, "dataset")}
      actions={<TableTools table={table} />}
    >
      <DataTable table={table} expectedRows={4} empty={empty} />
    </Card>
  );
}
