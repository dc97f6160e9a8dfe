import type { EvaluatorProfile } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { formatCount } from "../../text/format-number.ts";
import { Badge } from "../../ui/badge.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { RateCell } from "./rate-cell.tsx";
import type { FiguresOfRevision } from "./revision-figures.ts";

interface ProfileTableProps {
  familyName: string;
  /** Of each its newest revision. */
  profiles: readonly EvaluatorProfile[];
  figuresOf: FiguresOfRevision | undefined;
}

/** The profiles of one family. The columns of all families stand below each other. */
export function ProfileTable({ familyName, profiles, figuresOf }: ProfileTableProps) {
  return (
    <Table label={`Profiles of ${familyName}`} className="min-w-2xl table-fixed border-t border-line">
      <thead className="border-b border-line">
        <tr>
          <HeaderCell>Profile</HeaderCell>
          <HeaderCell className="w-24">Revision</HeaderCell>
          <HeaderCell className="w-60">Pass rate of this revision</HeaderCell>
          <HeaderCell isNumber className="w-28">
            Evaluations
          </HeaderCell>
          <HeaderCell isNumber className="w-36">
            Changed
          </HeaderCell>
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
            // The whole row leads there.
            className="truncate font-medium after:absolute after:inset-0"
          >
            {name}
          </Link>
          {archived_at !== null && <Badge tone="warn">Archived</Badge>}
        </span>
        {description !== null && <span className="block truncate text-xs text-ink-3">{description}</span>}
      </RowHeader>
      <Cell className="text-ink-2 tabular-nums">{is_managed ? "Built-in" : revision}</Cell>
      <Cell>
        {figuresOf === undefined ? (
          <Skeleton className="h-4 w-40" />
        ) : (
          <RateCell rate={figures?.pass_rate ?? null} interval={figures?.pass_rate_interval ?? null} />
        )}
      </Cell>
      <Cell isNumber>
        {figuresOf !== undefined && formatCount(figures?.count ?? 0)}
        {figures !== undefined && figures.failed > 0 && (
          <span className="block text-xs text-warn">{formatCount(figures.failed)} without verdict</span>
        )}
      </Cell>
      <Cell isNumber className="text-ink-2">
        {is_managed ? "–" : <Time at={created_at} />}
      </Cell>
    </tr>
  );
}
