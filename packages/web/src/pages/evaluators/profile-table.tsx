import type { EvaluatorProfile } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { addUp } from "../../data/figures/rate-group.ts";
import { formatCount } from "../../format/format-number.ts";
import { Badge } from "../../ui/badge.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import type { FiguresOfRevision } from "./revision-figures.ts";
import { RevisionRates } from "./revision-rates.tsx";

interface ProfileTableProps {
  familyName: string;
  /** The newest revision of each. */
  profiles: readonly EvaluatorProfile[];
  figuresOf: FiguresOfRevision | undefined;
}

const onlyWide = "max-md:hidden";

/** The profiles of one family. */
export function ProfileTable({ familyName, profiles, figuresOf }: ProfileTableProps) {
  return (
    <Table label={`Profiles of ${familyName}`} className="table-fixed border-t border-line md:min-w-4xl">
      <colgroup>
        <col />
        <col className={clsx("w-28", onlyWide)} />
        <col className="w-32 md:w-72" />
        <col className="w-24 md:w-40" />
        <col className={clsx("w-32", onlyWide)} />
      </colgroup>
      <thead>
        <tr className="border-b border-line">
          <HeaderCell>Profile</HeaderCell>
          <HeaderCell className={onlyWide}>Revision</HeaderCell>
          <HeaderCell>Pass rate</HeaderCell>
          <HeaderCell isNumber>Evaluations</HeaderCell>
          <HeaderCell isNumber className={onlyWide}>
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
            // Makes the whole row clickable.
            className="truncate font-medium after:absolute after:inset-0"
          >
            {name}
          </Link>
          {archived_at !== null && <Badge tone="warn">Archived</Badge>}
        </span>
        {description !== null && <span className="block truncate text-xs text-ink-3">{description}</span>}
      </RowHeader>
      <Cell className={clsx("text-ink-2 tabular-nums", onlyWide)}>
        {is_managed ? "Built-in" : `Revision ${revision}`}
      </Cell>
      <Cell>
        {figuresOf === undefined ? (
          <Skeleton className="h-4 w-40" />
        ) : (
          <RevisionRates figures={figures ?? []} />
        )}
      </Cell>
      <Cell isNumber>{figuresOf !== undefined && <Evaluations {...addUp(figures ?? [])} />}</Cell>
      <Cell isNumber className={clsx("text-ink-3", onlyWide)}>
        {!is_managed && <Time at={created_at} />}
      </Cell>
    </tr>
  );
}

function Evaluations({ count, failed }: { count: number; failed: number }) {
  if (count === 0) return <span className="text-ink-3">Not used yet</span>;
  return (
    <>
      {formatCount(count)}
      {failed > 0 && <span className="block text-xs text-warn">{formatCount(failed)} without a verdict</span>}
    </>
  );
}
