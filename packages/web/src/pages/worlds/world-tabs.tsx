import type { ListedRun, World } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { usePresage } from "../../data/client.ts";
import { worldRevisionsQuery } from "../../data/worlds.ts";
import { describeTarget } from "../../format/words.ts";
import { DatasetLink } from "../../parts/datasets.tsx";
import { HeadlineRate, RunStatus } from "../../parts/runs.tsx";
import { changesInWords } from "../../parts/worlds.ts";
import { Fold } from "../../ui/card.tsx";
import { configChanges, RevisionChanges } from "../../ui/config-changes.tsx";
import { Awaited } from "../../ui/notice.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";

/** The world in each of its revisions, and what each changed. */
export function RevisionsTab({ world }: { world: World }) {
  const { data, error, refetch } = useQuery(worldRevisionsQuery(usePresage(), world));
  if (data === undefined) {
    return <Awaited error={error} onRetry={refetch} count={3} className="h-8" />;
  }
  return (
    <ol className="flex flex-col gap-3 p-4">
      {data.map((revised, index) => {
        const before = data[index + 1];
        const changes = before === undefined ? ["The first revision"] : changesInWords(before, revised);
        return (
          <li key={revised.revision} className="flex min-w-0 flex-col gap-1">
            <h3 className="flex items-baseline gap-2 text-sm font-semibold">
              Revision {revised.revision}
              <span className="text-xs font-normal text-ink-3">
                <Time at={revised.revised_at} />
                {revised.made_by && ` by ${revised.made_by}`}
              </span>
            </h3>
            <ul className="list-disc pl-5 text-sm text-ink-2">
              {(changes.length === 0 ? ["Nothing changed"] : changes).map((text) => (
                <li key={text} className="wrap-anywhere">
                  <InlineText text={text} />
                </li>
              ))}
            </ul>
            {before !== undefined && changes.length > 0 && (
              <Fold title="Settings before and after">
                <RevisionChanges
                  changes={configChanges(before.config, revised.config)}
                  before={before.revision}
                  after={revised.revision}
                />
              </Fold>
            )}
          </li>
        );
      })}
    </ol>
  );
}

/** As many as a learning curve and what stands beside it have. */
const mostRuns = 14;

/** The newest runs of the world, with what they say of it and of what is simpler. */
export function QualityTab({ runs }: { runs: readonly ListedRun[] }) {
  const shown = runs.slice(0, mostRuns);
  return (
    <Table label="Runs of the world" isStacked className="min-w-2xl">
      <thead className="border-b border-line">
        <tr>
          <HeaderCell>Run</HeaderCell>
          <HeaderCell>Target</HeaderCell>
          <HeaderCell>Dataset</HeaderCell>
          <HeaderCell className="w-80">Pass rate</HeaderCell>
          <HeaderCell isNumber>Made</HeaderCell>
        </tr>
      </thead>
      <tbody>
        {shown.map((run) => (
          <tr key={run.id} className="border-b border-line last:border-b-0">
            <RowHeader>
              <span className="flex items-center gap-2">
                <Link
                  to="/runs/$runId"
                  params={{ runId: run.id }}
                  className="truncate font-medium text-accent-ink hover:underline"
                >
                  <InlineText text={run.name} />
                </Link>
                {run.status !== "finished" && <RunStatus status={run.status} />}
              </span>
            </RowHeader>
            <Cell>{describeTarget(run.target)}</Cell>
            <Cell>{run.dataset_id !== null && <DatasetLink id={run.dataset_id} />}</Cell>
            <Cell>
              <HeadlineRate of={{ run }} />
            </Cell>
            <Cell isNumber>
              <Time at={run.created_at} />
            </Cell>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
