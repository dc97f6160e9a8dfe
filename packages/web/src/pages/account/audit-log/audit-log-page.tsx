import { useInfiniteQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { RefreshCw, ScrollText } from "lucide-react";
import { auditEventsQuery } from "../../../data/audit-events.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { OwnersOnly } from "../../../session/owners-only.tsx";
import { EndlessTable } from "../../../ui/data-table/endless-table.tsx";
import { TableTools } from "../../../ui/data-table/table-tools.tsx";
import { useDataTable } from "../../../ui/data-table/use-data-table.ts";
import { useTableView } from "../../../ui/data-table/use-table-view.ts";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { SearchInput } from "../../../ui/form/search-input.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { IconButton } from "../../../ui/icon-button.tsx";
import { Page } from "../../../ui/page.tsx";
import { actionWords } from "./action-words.ts";
import { auditColumns } from "./audit-columns.tsx";
import { readAuditLogSearch } from "./audit-log-search.ts";

export const auditLogRoute = createLazyRoute("/account/audit-log")({ component: AuditLogPage });

function AuditLogPage() {
  return (
    <Page
      title="Audit log"
      hint="Every change made through the API, this dashboard or the command line. Predictions, evaluations and episodes are recorded on their own pages."
      isFull
    >
      <OwnersOnly>
        <AuditLog />
      </OwnersOnly>
    </Page>
  );
}

function AuditLog() {
  const presage = usePresage();
  const { action, object } = auditLogRoute.useSearch();
  const navigate = auditLogRoute.useNavigate();
  const change = (part: { action?: string | undefined; object?: string | undefined }) =>
    navigate({ search: (search) => readAuditLogSearch({ ...search, ...part }), replace: true });
  const filter = { ...(action && { action }), ...(object && { object_id: object }) };
  const list = useInfiniteQuery(auditEventsQuery(presage, filter));
  const view = useTableView("audit-log", auditColumns, { isInAddress: true });
  const table = useDataTable({
    label: "Audit log",
    view,
    columns: auditColumns,
    rows: list.data,
    rowId: ({ id }) => id,
    rowName: ({ action }) => actionWords[action],
    sorting: "server",
    isMain: true,
  });
  return (
    <section
      aria-label="Audit log"
      className="flex min-h-80 flex-1 flex-col overflow-hidden rounded-lg border border-line bg-surface"
    >
      <header className="flex min-h-10 flex-wrap items-center gap-2 border-b border-line px-4 py-1">
        <Select
          aria-label="Action"
          value={action ?? ""}
          options={[
            { value: "", label: "All actions" },
            ...Object.entries(actionWords).map(([value, label]) => ({ value, label })),
          ]}
          onChange={(chosen) => change({ action: chosen })}
        />
        <SearchInput
          label="Id of what was changed"
          words={object ?? ""}
          onSearch={(words) => change({ object: words.trim() })}
        />
        <span className="flex-1" />
        <IconButton label="Refresh" icon={<RefreshCw aria-hidden />} onClick={() => list.refetch()} />
        <TableTools table={table} />
      </header>
      <EndlessTable
        table={table}
        list={list}
        isFull
        expectedRows={12}
        empty={
          <EmptyState icon={ScrollText} title="No changes">
            Nothing in the log matches.
          </EmptyState>
        }
      />
    </section>
  );
}
