import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { RefreshCw } from "lucide-react";
import { useEffect, useEffectEvent, useMemo, useState } from "react";
import { type ResultRow, refreshResults, resultPagesQuery } from "../../data/evaluation-results.ts";
import { usePresage } from "../../data/use-presage.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { Drawer } from "../../ui/overlay/drawer.tsx";
import { Page } from "../../ui/page.tsx";
import { ResultDetails } from "./drawer/result-details.tsx";
import { toResultFilter, toResultOrder } from "./explorer-filter.ts";
import { ExportMenu } from "./export-menu.tsx";
import { FilterBar } from "./filters/filter-bar.tsx";
import { ResultList } from "./result-list.tsx";
import { SummaryLine } from "./summary-line.tsx";
import { focusResult } from "./table/results-table.tsx";
import { useExplorer } from "./use-explorer.ts";

export const evaluationsRoute = createLazyRoute("/evaluations")({ component: EvaluationsPage });

function EvaluationsPage() {
  const presage = usePresage();
  const queryClient = useQueryClient();
  const explorer = useExplorer();
  const { search, change } = explorer;
  const openId = search.result;
  const filter = toResultFilter(search);
  const list = useInfiniteQuery(resultPagesQuery(presage, filter, toResultOrder(search)));
  const rows = useMemo(() => list.data?.pages.flat() ?? [], [list.data]);
  const [lastId, setLastId] = useState<string>();
  const activeId = openId ?? lastId ?? rows[0]?.id;
  const { row, previousId, nextId } = useNeighbours(rows, activeId);

  function open(id: string): void {
    setLastId(id);
    // Moving between results adds no entries to the browser's history.
    change({ result: id }, { replace: openId !== undefined });
  }

  function close(): void {
    setLastId(openId);
    change({ result: undefined });
  }

  useStepKeys((by) => {
    const id = by === 1 ? nextId : previousId;
    if (id === undefined) return;
    if (openId !== undefined) return open(id);
    setLastId(id);
    requestAnimationFrame(() => focusResult(id));
  });

  return (
    <Page
      title="Evaluations"
      isFull
      actions={
        <>
          <IconButton
            label="Refresh"
            icon={<RefreshCw aria-hidden />}
            onClick={() => refreshResults(queryClient)}
          />
          <ExportMenu search={search} />
        </>
      }
    >
      <FilterBar explorer={explorer} />
      <section
        aria-label="Results"
        className="flex min-h-80 flex-1 flex-col overflow-hidden rounded-lg border border-line bg-surface"
      >
        <div className="border-b border-line px-4 py-1.5">
          <SummaryLine explorer={explorer} />
        </div>
        <ResultList
          key={JSON.stringify([filter, search.order])}
          list={list}
          rows={rows}
          activeId={activeId}
          explorer={explorer}
          onActivate={setLastId}
          onOpen={open}
        />
      </section>
      <Drawer
        isOpen={openId !== undefined}
        onClose={close}
        title={`Result ${openId}`}
        onCloseAutoFocus={(event) => {
          event.preventDefault();
          if (lastId !== undefined) focusResult(lastId);
        }}
      >
        {openId !== undefined && (
          <ResultDetails
            id={openId}
            row={row}
            previousId={previousId}
            nextId={nextId}
            explorer={explorer}
            onOpen={open}
            onClose={close}
          />
        )}
      </Drawer>
    </Page>
  );
}

interface Neighbours {
  row: ResultRow | undefined;
  previousId: string | undefined;
  nextId: string | undefined;
}

function useNeighbours(rows: readonly ResultRow[], id: string | undefined): Neighbours {
  const indexes = useMemo(() => new Map(rows.map((row, index) => [row.id, index])), [rows]);
  const index = id === undefined ? undefined : indexes.get(id);
  if (index === undefined) return { row: undefined, previousId: undefined, nextId: undefined };
  return { row: rows[index], previousId: rows[index - 1]?.id, nextId: rows[index + 1]?.id };
}

/** J and K go to the next and previous result, except while typing. */
function useStepKeys(step: (by: 1 | -1) => void): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || takesKeys(event.target))
      return;
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKeyDown(event);
    window.addEventListener("keydown", listener);
    return () => window.removeEventListener("keydown", listener);
  }, []);
}

function takesKeys(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [role=menu]") !== null;
}
