import { roles } from "@presage/contract/permissions";
import type { Member, Role, SpendingResponse } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { membersQuery, meQuery, nameOfMember, useChangeRole } from "../../data/accounts.ts";
import { findQueryError, usePresage } from "../../data/client.ts";
import { monthSpendingQuery } from "../../data/spending.ts";
import { counted, formatCost } from "../../format/numbers.ts";
import { OwnersOnly } from "../../parts/allowed.tsx";
import { commandName } from "../../session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code/code-block.tsx";
import type { DataColumn } from "../../ui/data-table/columns.ts";
import { DataTable } from "../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../ui/data-table/table-model.ts";
import { TableTools } from "../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../ui/data-table/table-view.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Select } from "../../ui/form/select.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";

export const membersRoute = createLazyRoute("/account/members")({ component: MembersPage });

function MembersPage() {
  return (
    <Page
      title="Members"
      hint="Owners can do everything, members can predict and evaluate, viewers can only read."
    >
      <OwnersOnly>
        <MembersCard />
        <Card
          title="How others join"
          hint="Others join through the identity provider, or with the first command on the server; the second command ends their access."
        >
          <div className="flex max-w-xl flex-col gap-3 p-4">
            <CodeBlock code={`${commandName()} users add NAME`} label="the first command" language="shell" />
            <CodeBlock code={`${commandName()} users end NAME`} label="the second command" language="shell" />
          </div>
        </Card>
      </OwnersOnly>
    </Page>
  );
}

function MembersCard() {
  const presage = usePresage();
  const membersOf = useQuery(membersQuery(presage));
  const { data: members } = membersOf;
  const { data: me } = useQuery(meQuery(presage));
  const month = useQuery(monthSpendingQuery(presage));
  const { data: spending } = month;
  const failure = findQueryError([membersOf, month]);
  const change = useChangeRole();
  const [asked, setAsked] = useState<AskedRole>();
  const ownId = me?.id;
  const columns = useMemo(
    () => memberColumns({ ownId, isBusy: change.isPending, spending, onChange: setAsked }),
    [ownId, change.isPending, spending],
  );
  const view = useTableView("members", columns, { isInAddress: true });
  const table = useDataTable({
    label: "Members",
    view,
    columns,
    rows: members,
    rowId: ({ id }) => id,
    rowName: nameOfMember,
    spare: ["created", "requests", "keys", "cost"],
    isMain: true,
  });
  return (
    <>
      {failure && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      {change.error !== null && <ErrorNotice error={change.error} />}
      {(members !== undefined || membersOf.error === null) && (
        <Card
          title={members === undefined ? "…" : counted(members.length, "member")}
          actions={<TableTools table={table} />}
        >
          <DataTable table={table} expectedRows={3} empty={null} />
        </Card>
      )}
      <ChangeRoleDialog
        asked={asked}
        isOwn={asked?.member.id === ownId}
        isBusy={change.isPending}
        onClose={() => setAsked(undefined)}
        onConfirm={({ member, role }) =>
          change.mutate({ id: member.id, role }, { onSettled: () => setAsked(undefined) })
        }
      />
    </>
  );
}

/** The requests of each member in this calendar month and, if there are prices, their cost. */
function monthColumns(spending: SpendingResponse | undefined): DataColumn<Member>[] {
  const spentBy = new Map(spending?.people.map((person) => [person.user_id, person]));
  const currency = spending?.currency;
  const columns: DataColumn<Member>[] = [
    {
      id: "requests",
      label: "Requests this month",
      hint: "In this calendar month, UTC: predictions, evaluations, and those of the runs that they started",
      value: ({ id }) => (spending === undefined ? undefined : (spentBy.get(id)?.requests ?? 0)),
      widthPx: 96,
      isNumber: true,
    },
  ];
  if (!currency) return columns;
  // Members without requests spent nothing; null means that there is no price.
  const costOf = ({ id }: Member) => (spentBy.has(id) ? (spentBy.get(id)?.cost ?? null) : 0);
  return [
    ...columns,
    {
      id: "cost",
      label: "Cost this month",
      hint: "What their requests, runs and judges cost in this calendar month, UTC",
      value: costOf,
      cell: (member) => formatCost(costOf(member), currency),
      widthPx: 96,
      isNumber: true,
    },
  ];
}

interface RoleChanges {
  spending: SpendingResponse | undefined;
  ownId: string | undefined;
  isBusy: boolean;
  /** The keyboard changes a select immediately, so nothing is changed before it is confirmed. */
  onChange(asked: AskedRole): void;
}

function memberColumns({ ownId, isBusy, spending, onChange }: RoleChanges): DataColumn<Member>[] {
  return [
    {
      id: "name",
      label: "Name",
      value: nameOfMember,
      cell: (member) => (
        <>
          <span className="flex items-center gap-2 font-medium">
            <span className="truncate">{nameOfMember(member)}</span>
            {member.id === ownId && <Badge tone="accent">You</Badge>}
          </span>
          {member.email !== null && member.name !== null && (
            <span className="block truncate text-xs text-ink-3">{member.email}</span>
          )}
        </>
      ),
      widthPx: 180,
      isElastic: true,
      isFixed: true,
    },
    {
      id: "seen",
      label: "Last seen",
      hint: "When they last used the dashboard or one of their keys",
      value: ({ last_seen_at }) => last_seen_at,
      cell: ({ last_seen_at }) =>
        last_seen_at ? <Time at={last_seen_at} /> : <span className="text-ink-3">Never</span>,
      widthPx: 124,
      isNewestFirst: true,
    },
    {
      id: "keys",
      label: "Keys",
      hint: "Those that are neither revoked nor expired",
      value: ({ active_keys = 0 }) => active_keys,
      cell: ({ active_keys = 0 }) =>
        active_keys === 0 ? (
          "0"
        ) : (
          <Link to="/api-keys" className="text-accent-ink underline underline-offset-2" tabIndex={-1}>
            {active_keys}
          </Link>
        ),
      widthPx: 60,
      isNumber: true,
    },
    ...monthColumns(spending),
    {
      id: "created",
      label: "Added",
      hint: "When they first signed in, or were added",
      value: ({ created_at }) => created_at,
      widthPx: 124,
      isNewestFirst: true,
    },
    {
      id: "role",
      label: "Role",
      value: ({ role }) => role,
      cell: (member) => (
        <Select
          aria-label={`Role of ${nameOfMember(member)}`}
          value={member.role}
          disabled={isBusy}
          options={roles}
          onChange={(role) => onChange({ member, role })}
        />
      ),
      widthPx: 132,
      isFixed: true,
    },
  ];
}

const withArticle: Record<Role, string> = { owner: "an owner", member: "a member", viewer: "a viewer" };

interface AskedRole {
  member: Member;
  role: Role;
}

interface ChangeRoleDialogProps {
  /** Undefined: the dialog is closed. */
  asked: AskedRole | undefined;
  isOwn: boolean;
  isBusy: boolean;
  onClose(): void;
  onConfirm(asked: AskedRole): void;
}

function ChangeRoleDialog({ asked, isOwn, isBusy, onClose, onConfirm }: ChangeRoleDialogProps) {
  return (
    <ConfirmDialog
      isOpen={asked !== undefined}
      onClose={onClose}
      title={
        asked === undefined
          ? ""
          : `Make ${isOwn ? "yourself" : nameOfMember(asked.member)} ${withArticle[asked.role]}?`
      }
      confirmLabel="Change the role"
      isBusy={isBusy}
      onConfirm={() => asked !== undefined && onConfirm(asked)}
    >
      {isOwn
        ? "You then may no longer change roles: only another owner can make you an owner again."
        : "The role takes effect at once, for the user’s keys too."}
    </ConfirmDialog>
  );
}
