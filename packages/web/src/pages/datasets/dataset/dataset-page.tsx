import type { Dataset, DatasetRevision } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, getRouteApi, Link } from "@tanstack/react-router";
import { Upload } from "lucide-react";
import { useState } from "react";
import { datasetQuery, revisionsQuery } from "../../../data/runs/datasets.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { AllowedButton } from "../../../session/allowed-button.tsx";
import { UnavailablePage } from "../../../shell/unavailable-page.tsx";
import { buttonClass } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { Page } from "../../../ui/page.tsx";
import { TagList } from "../tag-list.tsx";
import { UploadDialog } from "../upload/upload-dialog.tsx";
import { DatasetActions } from "./dataset-actions.tsx";
import { DatasetFacts } from "./dataset-facts.tsx";
import { RevisionsCard } from "./revisions-card.tsx";
import { TrajectoriesCard } from "./trajectories-card.tsx";

export const datasetRoute = createLazyRoute("/datasets/$datasetId")({ component: DatasetPage });

const route = getRouteApi("/datasets/$datasetId");

function DatasetPage() {
  const { datasetId } = route.useParams();
  const dataset = useQuery(datasetQuery(usePresage(), datasetId));
  if (dataset.data !== undefined) return <LoadedDataset key={datasetId} dataset={dataset.data} />;
  return (
    <UnavailablePage
      title="Dataset"
      query={dataset}
      actions={
        <Link to="/datasets" className={buttonClass({})}>
          All datasets
        </Link>
      }
    />
  );
}

function LoadedDataset({ dataset }: { dataset: Dataset }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [isUploadOpen, setUploadOpen] = useState(false);
  const revisions = useQuery(revisionsQuery(usePresage(), dataset.id));
  const wanted = search.revision ?? dataset.latest_revision?.revision;
  // The latest comes with the dataset, so nothing moves when the others arrive.
  const known = [...(revisions.data ?? []), ...(dataset.latest_revision ? [dataset.latest_revision] : [])];
  const revision = known.find((one) => one.revision === wanted);
  const isMissing = revisions.data !== undefined && wanted !== undefined && revision === undefined;
  const showRevision = ({ revision }: Pick<DatasetRevision, "revision">) =>
    navigate({ search: (current) => ({ ...current, revision }), resetScroll: false });
  const openUpload = () => setUploadOpen(true);
  return (
    <Page
      title={dataset.name}
      hint={dataset.description ?? undefined}
      actions={<DatasetActions dataset={dataset} revision={revision} onUpload={openUpload} />}
    >
      {revisions.error !== null && <ErrorNotice error={revisions.error} onRetry={revisions.refetch} />}
      {dataset.tags !== null && <TagList tags={dataset.tags} />}
      {wanted === undefined && (
        <Card>
          <EmptyState
            icon={Upload}
            title="No samples yet"
            actions={
              <AllowedButton needs="evaluate" onClick={openUpload}>
                Upload a file
              </AllowedButton>
            }
          >
            An upload of recorded transitions makes the first revision.
          </EmptyState>
        </Card>
      )}
      {isMissing && (
        <Card>
          <EmptyState
            icon={Upload}
            title={`There is no revision ${wanted}`}
            actions={
              <Link to="/datasets/$datasetId" params={{ datasetId: dataset.id }} className={buttonClass({})}>
                Show the latest
              </Link>
            }
          />
        </Card>
      )}
      {wanted !== undefined && !isMissing && (
        <div className="grid min-w-0 items-start gap-4 xl:grid-cols-[minmax(0,1fr)_22rem]">
          <TrajectoriesCard
            key={wanted}
            datasetId={dataset.id}
            revision={wanted}
            count={revision?.trajectories}
          />
          <div className="flex min-w-0 flex-col gap-4">
            <DatasetFacts dataset={dataset} revision={revision} />
            <RevisionsCard
              revisions={revisions.data}
              shown={wanted}
              datasetId={dataset.id}
              latest={dataset.latest_revision?.revision}
            />
          </div>
        </div>
      )}
      <UploadDialog
        isOpen={isUploadOpen}
        onClose={() => setUploadOpen(false)}
        dataset={dataset}
        onUploaded={({ revision }) => showRevision(revision)}
      />
    </Page>
  );
}
