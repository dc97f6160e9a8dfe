import type { EvaluatorProfile } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { formatCount } from "../../format/format-number.ts";
import { Badge } from "../../ui/badge.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { RateCell } from "./rate-cell.tsx";
import type { FiguresOfRevision } from "./revision-figures.ts";

interface ProfileTableProps {
  familyName: string;
  /** The newest revision of each. */
  profiles: readonly EvaluatorProfile[];
  figuresOf: FiguresOfRevision | undefined;
}

/** The profiles of one family. Headings are for screen readers only, since every family would repeat them. */
export function ProfileTable({ familyName, profiles, figuresOf }: ProfileTableProps) {
  return (
    <Table label={`Profiles of ${familyName}`} className="min-w-4xl table-fixed border-t border-line">
      <colgroup>
        <col />
        <col className="w-28" />
        <col className="w-60" />
        <col className="w-40" />
        <col className="w-32" />
      </colgroup>
      <thead className="sr-only">
        <tr>
          <HeaderCell>Profile</HeaderCell>
          <HeaderCell>Newest revision</HeaderCell>
          <HeaderCell>Pass rate of this revision</HeaderCell>
          <HeaderCell>Evaluations with it</HeaderCell>
          <HeaderCell>Changed</HeaderCell>
        </tr>
      </thead>
      <tbody>
        {profiles.map((profile) => (
          <ProfileRow key={profile.public_id} profile={profile} figuresOf={figuresOf} />
        ))}
      </tbody>
    </Table>
  );
}

function ProfileRow({
  profile: { public_id, name, description, revision, is_managed, archived_at, created_at },
  figuresOf,
}: {
  profile: EvaluatorProfile;
  figuresOf: FiguresOfRevision | undefined;
}) {
  const figures = figuresOf?.(public_id, revision);
  return (
    <tr className="relative h-12 border-b border-line last:border-b-0 hover:bg-hover">
      <RowHeader>
        <span className="flex items-center gap-2">
          <Link
            to="/evaluators/profiles/$publicId"
            params={{ publicId: public_id }}
            // Makes the whole row clickable.
            className="truncate font-medium after:absolute after:inset-0"
          >
            {name}
          </Link>
          {archived_at !== null && <Badge tone="warn">Archived</Badge>}
        </span>
        {description !== null && <span className="block truncate text-xs text-ink-3">{description}</span>}
      </RowHeader>
      <Cell className="text-ink-2 tabular-nums">{is_managed ? "Built-in" : `Revision ${revision}`}</Cell>
      <Cell>
        {figuresOf === undefined ? (
          <Skeleton className="h-4 w-40" />
        ) : (
          figures && <RateCell rate={figures.pass_rate} interval={figures.pass_rate_interval} />
        )}
      </Cell>
      <Cell isNumber>
        {figuresOf !== undefined && <Evaluations count={figures?.count ?? 0} failed={figures?.failed ?? 0} />}
      </Cell>
      <Cell isNumber className="text-ink-3">
        {!is_managed && <Time at={created_at} />}
      </Cell>
    </tr>
  );
}

function Evaluations({ count, failed }: { count: number; failed: number }) {
  if (count === 0) return <span className="text-ink-3">Not used yet</span>;
  return (
    <>
      {formatCount(count)} {count === 1 ? "evaluation" : "evaluations"}
      {failed > 0 && <span className="block text-xs text-warn">{formatCount(failed)} without a verdict</span>}
    </>
  );
}
