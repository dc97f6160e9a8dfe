import type { DatasetTrajectorySummary } from "@presage/sdk";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { useDeferredValue } from "react";
import { usePresage } from "../../../data/client.ts";
import { trajectoryPagesQuery } from "../../../data/datasets.ts";
import { counted, formatCount } from "../../../format/numbers.ts";
import { TagList } from "../../../parts/datasets.tsx";
import { inPlace } from "../../../search-params.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import type { DataColumn } from "../../../ui/data-table/columns.ts";
import { EndlessTable } from "../../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../../ui/data-table/table-model.ts";
import { TableTools } from "../../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../../ui/data-table/table-view.ts";
import { SearchInput } from "../../../ui/form/inputs.tsx";
import { EmptyState } from "../../../ui/notice.tsx";
import { Beginning, SampleName } from "../../../ui/untrusted-text/inline-text.tsx";

const route = getRouteApi("/datasets/$datasetId");

interface TrajectoriesCardProps {
  datasetId: string;
  revision: number;
  /** The number of trajectories in the revision; undefined while loading. */
  count: number | undefined;
}

export function TrajectoriesCard({ datasetId, revision, count }: TrajectoriesCardProps) {
  const presage = usePresage();
  const { q = "", revision: inAddress } = route.useSearch();
  const navigate = route.useNavigate();
  const view = useTableView("trajectories", columns, { isInAddress: true });
  const words = useDeferredValue(q);
  const order = view.sort?.id !== "steps" ? "trajectory_id" : view.sort.isDescending ? "-steps" : "steps";
  const list = useInfiniteQuery(
    trajectoryPagesQuery(presage, datasetId, { revision, contains: words === "" ? undefined : words, order }),
  );
  const rows = list.data;
  const search = (text: string) =>
    navigate({ search: ({ q: _, ...rest }) => (text === "" ? rest : { ...rest, q: text }), ...inPlace });
  // Shows the column only if a loaded trajectory has tags: if any have tags, early ones usually do.
  const hasTags = rows?.some(({ tags }) => Object.keys(tags ?? {}).length > 0) === true;
  const table = useDataTable({
    label: "Trajectories",
    view: { ...view, columnIds: view.columnIds.filter((id) => id !== "tags" || hasTags) },
    columns,
    rows,
    rowId: ({ trajectory_id }) => trajectory_id,
    rowName: ({ trajectory_id }) => trajectory_id,
    link: ({ trajectory_id }) => ({
      to: "/datasets/$datasetId/trajectories/$trajectoryId",
      params: { datasetId, trajectoryId: trajectory_id },
      search: inAddress === undefined ? {} : { revision: inAddress },
    }),
    sorting: "server",
    spare: ["tags"],
    isMain: true,
  });
  const title =
    words === ""
      ? count !== undefined && counted(count, "trajectory", "trajectories")
      : rows !== undefined &&
        `${formatCount(rows.length)}${list.hasNextPage ? " and more" : ""} with “${words}”`;
  return (
    <Card
      title={title || "Trajectories"}
      actions={
        <>
          <SearchInput label="Find trajectories by part of their ID" words={q} onSearch={search} />
          <TableTools table={table} hasMore={list.hasNextPage} />
        </>
      }
    >
      <EndlessTable
        table={table}
        list={list}
        expectedRows={10}
        empty={
          <EmptyState
            icon={SearchX}
            title="No trajectory has this text in its ID"
            actions={<Button onClick={() => search("")}>Show all</Button>}
          />
        }
      />
    </Card>
  );
}

const columns: DataColumn<DatasetTrajectorySummary>[] = [
  {
    id: "trajectory",
    label: "Trajectory",
    hint: "By ID, unless the table is sorted by steps",
    value: ({ trajectory_id }) => trajectory_id,
    cell: ({ trajectory_id }) => <SampleName id={trajectory_id} />,
    widthPx: 384,
    isFixed: true,
    isSortable: false,
  },
  {
    id: "action",
    label: "First action",
    value: ({ first_action }) => first_action,
    cell: ({ first_action }) => <Beginning text={first_action} />,
    isElastic: true,
    widthPx: 200,
    isSortable: false,
  },
  {
    id: "steps",
    label: "Steps",
    hint: "How many samples it has. A trajectory may lack steps.",
    value: ({ steps }) => steps,
    cell: ({ steps, first_step, last_step }) => (
      <span title={`From step ${first_step} to ${last_step}`}>
        {formatCount(steps)}
        {last_step - first_step + 1 > steps && (
          <span className="text-ink-3"> of {formatCount(last_step - first_step + 1)}</span>
        )}
      </span>
    ),
    isNumber: true,
    isSortable: true,
    widthPx: 112,
  },
  {
    id: "tags",
    label: "Tags",
    hint: "The tags of the trajectory’s first sample",
    value: ({ tags }) =>
      Object.entries(tags ?? {})
        .map(([name, value]) => `${name}=${value}`)
        .join(" "),
    cell: ({ tags }) => <TagList tags={tags} />,
    isSortable: false,
    widthPx: 168,
  },
];
