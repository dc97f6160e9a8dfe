import type { Environment, EnvironmentTask } from "@presage/sdk";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ListPlus, Plus } from "lucide-react";
import { useState } from "react";
import { usePresage } from "../../../data/client.ts";
import { taskPagesQuery } from "../../../data/environments.ts";
import { formatCount } from "../../../format/numbers.ts";
import { AllowedButton } from "../../../parts/allowed.tsx";
import { inPlace } from "../../../search-params.ts";
import type { DataColumn } from "../../../ui/data-table/columns.ts";
import { EndlessTable } from "../../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../../ui/data-table/table-model.ts";
import { TableTools } from "../../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../../ui/data-table/table-view.ts";
import { Segmented } from "../../../ui/form/choices.tsx";
import { EmptyState } from "../../../ui/notice.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { splits } from "../environment/environment-search.ts";
import { AddTasksDialog } from "./add-tasks-dialog.tsx";

const route = getRouteApi("/environments/$name");

/** The tasks of a split. Each row links to playing its task. */
export function TasksTab({ environment }: { environment: Environment }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [isAddOpen, setAddOpen] = useState(false);
  const { name, tasks, is_built_in: isBuiltIn } = environment;
  const filled = splits.filter((split) => (tasks[split] ?? 0) > 0);
  const split = search.split ?? filled[0] ?? "train";
  const list = useInfiniteQuery(taskPagesQuery(usePresage(), name, split));
  const rows = list.data;
  const view = useTableView("tasks", columns);
  const table = useDataTable({
    label: "Tasks",
    view,
    columns,
    rows,
    rowId: ({ index }) => String(index),
    rowName: ({ index, prompt }) => `Play task ${index}: ${prompt ?? ""}`,
    link: ({ index }) => ({
      to: "/environments/$name/play",
      params: { name },
      search: { split, index },
    }),
    sorting: "server",
    spare: ["start"],
    isMain: true,
  });
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
        <Segmented
          label="Split"
          value={split}
          options={splits.map((one) => ({ value: one, label: `${one} ${formatCount(tasks[one] ?? 0)}` }))}
          onChange={(next) => navigate({ search: (current) => ({ ...current, split: next }), ...inPlace })}
        />
        <span className="flex-1" />
        {!isBuiltIn && (
          <AllowedButton
            needs="evaluate"
            size="small"
            icon={<Plus aria-hidden />}
            onClick={() => setAddOpen(true)}
          >
            Add tasks
          </AllowedButton>
        )}
        <TableTools table={table} hasMore={list.hasNextPage} />
      </div>
      <EndlessTable
        table={table}
        list={list}
        expectedRows={8}
        empty={
          <EmptyState
            icon={ListPlus}
            title={`No tasks in ${split}`}
            actions={
              !isBuiltIn && (
                <AllowedButton needs="evaluate" onClick={() => setAddOpen(true)}>
                  Add tasks
                </AllowedButton>
              )
            }
          >
            A task is a starting point: a first observation, a prompt for the agent, and a goal.
          </EmptyState>
        }
      />
      <AddTasksDialog name={name} split={split} isOpen={isAddOpen} onClose={() => setAddOpen(false)} />
    </>
  );
}

const columns: DataColumn<EnvironmentTask>[] = [
  {
    id: "index",
    label: "Task",
    hint: "The task’s index in its split. Tasks are only ever appended, so an index always means the same task.",
    value: ({ index }) => index,
    widthPx: 72,
    isFixed: true,
  },
  {
    id: "prompt",
    label: "Prompt",
    hint: "What the agent is told to do",
    value: ({ prompt }) => prompt,
    cell: ({ prompt }) => <ShortText text={prompt} />,
    widthPx: 160,
    isElastic: true,
  },
  {
    id: "goal",
    label: "Goal",
    hint: "Replaces {goal} in stop rules, and is the evaluator’s gold answer",
    value: ({ goal }) => goal,
    cell: ({ goal }) => <ShortText text={goal} />,
    widthPx: 220,
  },
  {
    id: "start",
    label: "First observation",
    value: ({ initial_state }) => initial_state,
    cell: ({ initial_state }) => <ShortText text={initial_state} />,
    widthPx: 160,
    isElastic: true,
  },
  {
    id: "metadata",
    label: "Metadata",
    value: ({ metadata }) => (metadata === null ? null : JSON.stringify(metadata)),
    cell: ({ metadata }) => <ShortText text={metadata === null ? null : JSON.stringify(metadata)} />,
    widthPx: 200,
    isExtra: true,
  },
];

function ShortText({ text }: { text: string | null }) {
  if (text === null || text === "") return <span className="text-ink-3">–</span>;
  return (
    <span className="line-clamp-2 text-xs whitespace-normal wrap-anywhere" title={text.slice(0, 300)}>
      <InlineText text={text} />
    </span>
  );
}
