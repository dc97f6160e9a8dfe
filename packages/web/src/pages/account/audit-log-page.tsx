import type { AuditEvent } from "@presage/sdk";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link } from "@tanstack/react-router";
import { Copy, RefreshCw, ScrollText } from "lucide-react";
import { useState } from "react";
import { auditEventsQuery, membersQuery, nameOfMember } from "../../data/accounts.ts";
import { usePresage } from "../../data/client.ts";
import { formatCount, formatShare } from "../../format/numbers.ts";
import { dayOf, periodLabels, periods, startOf } from "../../format/times.ts";
import { withoutVersion } from "../../format/words.ts";
import { OwnersOnly } from "../../parts/allowed.tsx";
import { IconButton, useCopy } from "../../ui/button.tsx";
import type { DataColumn } from "../../ui/data-table/columns.ts";
import { EndlessTable } from "../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../ui/data-table/table-model.ts";
import { TableTools } from "../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../ui/data-table/table-view.ts";
import { SearchInput } from "../../ui/form/inputs.tsx";
import { Choice } from "../../ui/form/select.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { EmptyState } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { actionWords, readAuditLogSearch } from "./audit-log-search.ts";

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
  const { action, object, period, user } = auditLogRoute.useSearch();
  const [openedMs] = useState(Date.now);
  const { data: members = [] } = useQuery(membersQuery(presage));
  const navigate = auditLogRoute.useNavigate();
  const change = (part: Partial<Record<"action" | "object" | "period" | "user", string | undefined>>) =>
    navigate({ search: (search) => readAuditLogSearch({ ...search, ...part }), replace: true });
  const filter = {
    ...(action && { action }),
    ...(object && { object_id: object }),
    ...(user && { actor_user_id: user }),
    ...(period && { from: startOf(period, openedMs) }),
  };
  const list = useInfiniteQuery(auditEventsQuery(presage, filter));
  const view = useTableView("audit-log", auditColumns, { isInAddress: true });
  const table = useDataTable({
    label: "Audit log",
    view,
    columns: auditColumns,
    rows: list.data,
    rowId: ({ id }) => id,
    groupOf: ({ created_at }) => dayOf(created_at),
    rowName: ({ action }) => actionWords[action],
    sorting: "server",
    spare: ["object"],
    isMain: true,
  });
  return (
    <section
      aria-label="Audit log"
      className="flex min-h-80 flex-col overflow-hidden rounded-lg border border-line bg-surface"
    >
      <header className="flex min-h-10 flex-wrap items-center gap-2 border-b border-line px-4 py-1">
        <Choice
          label="Period"
          any="Any time"
          value={period}
          options={periods.map((value) => ({ value, label: `The last ${periodLabels[value]}` }))}
          onChange={(chosen) => change({ period: chosen })}
        />
        <Choice
          label="Action"
          any="All actions"
          value={action}
          options={Object.entries(actionWords).map(([value, label]) => ({ value, label }))}
          onChange={(chosen) => change({ action: chosen })}
        />
        {members.length > 1 && (
          <Choice
            label="By whom"
            any="Everyone"
            value={user}
            options={members.map((member) => ({ value: member.id, label: nameOfMember(member) }))}
            onChange={(chosen) => change({ user: chosen })}
          />
        )}
        <SearchInput
          label="ID of what was changed"
          placeholder="ID of what was changed"
          words={object ?? ""}
          onSearch={(words) => change({ object: words.trim() })}
        />
        <span className="flex-1" />
        <IconButton label="Refresh" icon={<RefreshCw aria-hidden />} onClick={() => list.refetch()} />
        <TableTools table={table} hasMore={list.hasNextPage} />
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

const auditColumns: DataColumn<AuditEvent>[] = [
  {
    id: "time",
    label: "Time",
    value: ({ created_at }) => created_at,
    cell: ({ created_at }) => <Time at={created_at} look="clock" />,
    widthPx: 132,
    isFixed: true,
  },
  {
    id: "action",
    label: "Change",
    value: (event) => `${event.action} ${describeDetail(event)}`,
    cell: (event) => <Change event={event} />,
    widthPx: 360,
    isElastic: true,
    isFixed: true,
  },
  { id: "by", label: "By", value: actorOf, widthPx: 280 },
  {
    id: "object",
    label: "IDs",
    hint: "IDs of the changed object, to search here, and of the request, to search in the server's log",
    value: ({ object_id }) => object_id,
    cell: (event) => <CopyIds event={event} />,
    widthPx: 56,
    isSortable: false,
  },
];

function CopyIds({ event: { object_id, request_id } }: { event: AuditEvent }) {
  const { notice, copy } = useCopy();
  return (
    <Menu trigger={<IconButton label={notice ?? "Copy an ID"} icon={<Copy aria-hidden />} />}>
      <MenuItem onSelect={() => copy(object_id)}>Of what was changed</MenuItem>
      {request_id !== null && <MenuItem onSelect={() => copy(request_id)}>Of the request</MenuItem>}
    </Menu>
  );
}

/** The action, its object and the details; the object's name links to all of its changes. */
function Change({ event }: { event: AuditEvent }) {
  const { action, object_id, detail, names } = event;
  const name = detail.name ?? names[object_id];
  const others = describeDetail({ ...event, detail: { ...detail, name: "" } });
  return (
    <span className="block py-1 whitespace-normal phone:line-clamp-none!">
      <span className="font-medium text-ink">{actionWords[action]}</span>{" "}
      {typeof name === "string" && (
        <Link
          to="/account/audit-log"
          search={{ object: object_id }}
          title="All changes to this object"
          tabIndex={-1}
          className="wrap-anywhere text-accent-ink underline-offset-2 hover:underline"
        >
          {name}
        </Link>
      )}
      {others !== "" && <span className="block text-xs wrap-anywhere text-ink-3">{others}</span>}
    </span>
  );
}

function actorOf({ actor: { kind, user_id, email, name }, names }: AuditEvent): string {
  const who = names[user_id ?? ""] ?? email ?? "someone who is gone";
  // The name comes from the server's operating system, or in containers from their administrator.
  if (kind === "command_line")
    return `Command line${name === null ? "" : `, as ${name.replace(/^user 0$/, "root")}`}`;
  return kind === "api_key" ? `${who}, key ${name}` : who;
}

/** A value as text: times only with their day, evaluators without their version. */
function inWords(value: unknown, field: string): string {
  if (field === "pass_rate" && typeof value === "number") return formatShare(value);
  if (typeof value === "number") return formatCount(value);
  const text = String(value).replace(/^(\d{4}-\d\d-\d\d)T.*/, "$1");
  return field === "evaluators" ? withoutVersion(text) : text;
}

/** The details of an event, with fields renamed or combined where their names would not be clear. */
function inPlainFields({ action, detail, names }: AuditEvent): AuditEvent["detail"] {
  const { kind, shown_ids, limit, stops, ...rest } = detail;
  const isNamed = [shown_ids].flat().some((id) => names[String(id)] !== undefined);
  if (action.startsWith("share.") && isNamed) return { [`${kind}_ids`]: shown_ids, ...rest };
  if (action !== "budget.set") return detail;
  return {
    "limit a month": limit,
    [stops === true ? "refuses requests once spent" : "refuses nothing"]: true,
    ...rest,
  };
}

/** `training · scopes: predict, read · user: Ada`: begins with the object's name at the time, else its current name. */
function describeDetail(event: AuditEvent): string {
  const { object_id, names } = event;
  const { name, ...detail } = inPlainFields(event);
  const namesOf = (ids: unknown) =>
    [ids]
      .flat()
      .flatMap((id) => names[String(id)] ?? [])
      .map((one) => (one.includes(",") ? `“${one}”` : one))
      .join(", ") || undefined;
  const others = Object.entries(detail).flatMap(([field, value]) => {
    const shown = /_ids?$/.test(field) ? namesOf(value) : value;
    // An id without a name means nothing to people.
    if (shown === null || shown === undefined) return [];
    const label = field.replace(/_ids?$/, "").replaceAll("_", " ");
    if (typeof shown === "boolean")
      return [shown ? label : label.startsWith("with ") ? label.replace("with", "without") : `not ${label}`];
    return [
      `${label}: ${[shown]
        .flat()
        .map((one) => inWords(one, field))
        .join(", ")}`,
    ];
  });
  return [name ?? names[object_id] ?? "", ...others].filter((part) => part !== "").join(" · ");
}
