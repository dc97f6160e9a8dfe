import type { Dataset, DatasetRevision } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link, useNavigate } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Download, Ellipsis, Orbit, Play, Trash2, Upload } from "lucide-react";
import { useState } from "react";
import { usePresage } from "../../../data/client.ts";
import {
  datasetQuery,
  revisionsQuery,
  runsOnDatasetQuery,
  useDeleteDataset,
} from "../../../data/datasets.ts";
import { headlinesQuery } from "../../../data/runs.ts";
import { worldsQuery } from "../../../data/worlds.ts";
import { counted, countedIn, formatCount, formatSize } from "../../../format/numbers.ts";
import { AllowedButton, AllowedLink, AllowedMenuItem } from "../../../parts/allowed.tsx";
import { TagList } from "../../../parts/datasets.tsx";
import { HeadlineRate, NewRunLink, RunLink } from "../../../parts/runs.tsx";
import { UnavailablePage } from "../../../parts/unavailable-page.tsx";
import { Badge } from "../../../ui/badge.tsx";
import { Button, buttonClass, CopyButton, IconButton } from "../../../ui/button.tsx";
import { Card, Fact } from "../../../ui/card.tsx";
import { ConfirmDialog } from "../../../ui/dialog.tsx";
import { Menu, MenuDownload } from "../../../ui/menu.tsx";
import { EmptyState, ErrorNotice } from "../../../ui/notice.tsx";
import { Page } from "../../../ui/page.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { Time } from "../../../ui/time.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { ImportFacts } from "../import-facts.tsx";
import { UploadDialog } from "../upload/upload-dialog.tsx";
import { TrajectoriesCard } from "./trajectories-card.tsx";

export const datasetRoute = createLazyRoute("/datasets/$datasetId")({ component: DatasetPage });

function DatasetPage() {
  const { datasetId } = datasetRoute.useParams();
  const dataset = useQuery(datasetQuery(usePresage(), datasetId));
  if (dataset.data !== undefined) return <LoadedDataset key={datasetId} dataset={dataset.data} />;
  return (
    <UnavailablePage title="Dataset" query={dataset} link={{ to: "/datasets", children: "All datasets" }} />
  );
}

function LoadedDataset({ dataset }: { dataset: Dataset }) {
  const search = datasetRoute.useSearch();
  const navigate = datasetRoute.useNavigate();
  const [isUploadOpen, setUploadOpen] = useState(false);
  const revisions = useQuery(revisionsQuery(usePresage(), dataset.id));
  const wanted = search.revision ?? dataset.latest_revision?.revision;
  // The latest revision comes with the dataset, so nothing moves when the others arrive.
  const known = [...(revisions.data ?? []), ...(dataset.latest_revision ? [dataset.latest_revision] : [])];
  const revision = known.find((one) => one.revision === wanted);
  const isMissing = revisions.isSuccess && !revisions.isFetching && wanted !== undefined && !revision;
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
            {dataset.latest_revision?.revision !== 1 && (
              <RevisionsCard
                revisions={revisions.data}
                shown={wanted}
                datasetId={dataset.id}
                latest={dataset.latest_revision?.revision}
              />
            )}
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

interface DatasetActionsProps {
  dataset: Dataset;
  /** The revision on the page. */
  revision: DatasetRevision | undefined;
  onUpload(): void;
}

function DatasetActions({ dataset, revision, onUpload }: DatasetActionsProps) {
  const [isDeleteOpen, setDeleteOpen] = useState(false);
  return (
    <>
      <Menu trigger={<IconButton label="More actions" icon={<Ellipsis aria-hidden />} />}>
        {revision !== undefined && (
          <MenuDownload
            href={`/v1/datasets/${dataset.id}/export?revision=${revision.revision}`}
            fileName={`${dataset.name}-r${revision.revision}.jsonl`}
            icon={<Download aria-hidden />}
          >
            Download all lines
          </MenuDownload>
        )}
        <AllowedMenuItem
          needs="evaluate"
          icon={<Trash2 aria-hidden />}
          isDangerous
          onSelect={() => setDeleteOpen(true)}
        >
          Delete the dataset
        </AllowedMenuItem>
      </Menu>
      <AllowedButton needs="evaluate" icon={<Upload aria-hidden />} onClick={onUpload}>
        Upload
      </AllowedButton>
      {revision !== undefined && (
        <AllowedLink
          needs="evaluate"
          link={{ to: "/worlds", search: { dataset: dataset.id } }}
          icon={<Orbit aria-hidden />}
        >
          New world
        </AllowedLink>
      )}
      {revision !== undefined && (
        <NewRunLink
          search={{ dataset: dataset.id, revision: revision.revision }}
          variant="primary"
          icon={<Play aria-hidden />}
        >
          New run
        </NewRunLink>
      )}
      <DeleteDatasetDialog dataset={dataset} isOpen={isDeleteOpen} onClose={() => setDeleteOpen(false)} />
    </>
  );
}

interface DatasetFactsProps {
  dataset: Dataset;
  /** Undefined while loading. */
  revision: DatasetRevision | undefined;
}

function DatasetFacts({ dataset, revision }: DatasetFactsProps) {
  const presage = usePresage();
  const { data: headlines } = useQuery(headlinesQuery(presage));
  const { data: allWorlds = [] } = useQuery(worldsQuery(presage));
  const worlds = allWorlds.filter(({ pinned }) => pinned.examples?.dataset_id === dataset.id);
  const latest = headlines?.find(
    ({ run }) => run.dataset_id === dataset.id && run.revision === revision?.revision,
  );
  const { samples, trajectories, bytes, digest, created_at } = revision ?? {};
  const number = (value: number | undefined) => (value === undefined ? "…" : formatCount(value));
  const perTrajectory =
    samples === undefined || !trajectories ? "…" : (samples / trajectories).toFixed(1).replace(/\.0$/, "");
  return (
    <Card title={revision === undefined ? "Facts" : `Revision ${revision.revision}`}>
      <dl className="grid grid-cols-[8rem_1fr] text-sm tabular-nums">
        {latest?.run.headline != null && (
          <Fact look="lined" name="Newest run">
            <span className="flex min-w-0 flex-col">
              <RunLink id={latest.run.id} />
              <HeadlineRate of={latest} />
            </span>
          </Fact>
        )}
        <Fact look="lined" name="Samples">
          {number(samples)}
        </Fact>
        <Fact look="lined" name="Trajectories">
          {number(trajectories)}
          <span className="text-xs text-ink-3">{perTrajectory} steps each on average</span>
        </Fact>
        {worlds.length > 0 && (
          <Fact look="lined" name="Worlds">
            <span className="flex min-w-0 flex-wrap gap-x-2">
              {worlds.map(({ name }) => (
                <Link
                  key={name}
                  to="/worlds/$name"
                  params={{ name }}
                  className="wrap-anywhere text-accent-ink hover:underline"
                >
                  {name}
                </Link>
              ))}
            </span>
          </Fact>
        )}
        <Fact look="lined" name="Size">
          {bytes === undefined ? "…" : formatSize(bytes)}
        </Fact>
        <Fact look="lined" name="Digest">
          <code className="min-w-0 truncate font-mono text-xs" title="SHA-256 of the exported lines">
            {digest ?? "…"}
          </code>
          {digest !== undefined && <CopyButton text={digest} label="Copy the digest" />}
        </Fact>
        <Fact look="lined" name="Uploaded">
          {created_at === undefined ? "…" : <Time at={created_at} />}
        </Fact>
        {revision?.import && <ImportFacts read={revision.import} />}
        <Fact look="lined" name="Dataset ID">
          <code className="min-w-0 truncate font-mono text-xs">{dataset.id}</code>
          <CopyButton text={dataset.id} label="Copy the dataset’s ID" />
        </Fact>
      </dl>
    </Card>
  );
}

interface RevisionsCardProps {
  datasetId: string;
  /** Newest first; undefined while loading. */
  revisions: readonly DatasetRevision[] | undefined;
  shown: number;
  latest: number | undefined;
}

function RevisionsCard({ datasetId, revisions, shown, latest }: RevisionsCardProps) {
  const [most, setMost] = useState(50);
  const count = revisions?.length ?? 0;
  return (
    <Card
      title="Revisions"
      hint="A revision never changes. A run names one."
      actions={
        count > most && (
          <Button size="small" variant="quiet" onClick={() => setMost(count)}>
            Show all {formatCount(count)}
          </Button>
        )
      }
    >
      {revisions === undefined ? (
        <SkeletonRows count={2} className="h-8" />
      ) : (
        <ul className="max-h-96 overflow-y-auto">
          {revisions.slice(0, most).map(({ revision, samples, trajectories, created_at }) => (
            <li key={revision} className="border-b border-line last:border-b-0">
              <Link
                to="/datasets/$datasetId"
                params={{ datasetId }}
                search={(current) => ({ ...current, revision })}
                resetScroll={false}
                aria-current={revision === shown ? "true" : undefined}
                className={clsx(
                  "flex flex-col gap-0.5 px-4 py-2 text-sm -outline-offset-2",
                  revision === shown ? "bg-accent-soft" : "hover:bg-hover",
                )}
              >
                <span className="flex items-center gap-2">
                  <span className="font-medium">Revision {revision}</span>
                  {revision === latest && <Badge tone="accent">latest</Badge>}
                  <span className="flex-1 text-right text-xs text-ink-3">
                    <Time at={created_at} />
                  </span>
                </span>
                <span className="text-xs text-ink-3 tabular-nums">{countedIn(samples, trajectories)}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

interface DeleteDatasetDialogProps {
  dataset: Dataset;
  isOpen: boolean;
  onClose(): void;
}

const mostNames = 5;

/** States what depends on the dataset and is deleted with it. */
function DeleteDatasetDialog({ dataset, isOpen, onClose }: DeleteDatasetDialogProps) {
  const presage = usePresage();
  const navigate = useNavigate();
  const runs = useQuery({ ...runsOnDatasetQuery(presage, dataset.id), enabled: isOpen, staleTime: 0 });
  const remove = useDeleteDataset(dataset.id);
  const count = runs.data?.length ?? 0;
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title={`Delete ${dataset.name}?`}
      confirmLabel={count === 0 ? "Delete dataset" : `Delete dataset and ${counted(count, "run")}`}
      isBusy={runs.isPending}
      change={remove}
      onConfirm={() => remove.mutate(count > 0, { onSuccess: () => navigate({ to: "/datasets" }) })}
    >
      <div className="flex flex-col gap-3">
        <p>
          All revisions are deleted. This cannot be undone. If you may need them again, download the dataset
          first.
        </p>
        {runs.data !== undefined && count > 0 && (
          <div>
            <p>
              {counted(count, "run")} on it {count === 1 ? "is" : "are"} deleted as well, with predictions and
              reports; evaluation results stay:
            </p>
            <ul className="mt-1 list-disc pl-5">
              {runs.data.slice(0, mostNames).map(({ id, name }) => (
                <li key={id}>
                  <InlineText text={name} />
                </li>
              ))}
              {count > mostNames && <li>and {counted(count - mostNames, "other")}</li>}
            </ul>
          </div>
        )}
        {runs.error !== null && <ErrorNotice error={runs.error} onRetry={runs.refetch} />}
      </div>
    </ConfirmDialog>
  );
}
