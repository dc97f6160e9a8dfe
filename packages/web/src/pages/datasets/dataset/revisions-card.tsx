import type { DatasetRevision } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { counted } from "../../../format/counted.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Card } from "../../../ui/card.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { Time } from "../../../ui/time.tsx";

interface RevisionsCardProps {
  datasetId: string;
  /** The newest first; undefined while loading. */
  revisions: readonly DatasetRevision[] | undefined;
  shown: number;
  latest: number | undefined;
}

export function RevisionsCard({ datasetId, revisions, shown, latest }: RevisionsCardProps) {
  return (
    <Card title="Revisions" hint="A revision never changes. A run names one.">
      {revisions === undefined ? (
        <SkeletonRows count={2} className="h-8" />
      ) : (
        <ul className="max-h-96 overflow-y-auto">
          {revisions.map(({ revision, samples, trajectories, created_at }) => (
            <li key={revision} className="border-b border-line last:border-b-0">
              <Link
                to="/datasets/$datasetId"
                params={{ datasetId }}
                search={(current) => ({ ...current, revision })}
                resetScroll={false}
                aria-current={revision === shown ? "true" : undefined}
                className={clsx(
                  "flex flex-col gap-0.5 px-4 py-2 text-sm -outline-offset-2",
                  revision === shown ? "bg-accent-soft" : "hover:bg-hover",
                )}
              >
                <span className="flex items-center gap-2">
                  <span className="font-medium">Revision {revision}</span>
                  {revision === latest && <Badge tone="accent">latest</Badge>}
                  <span className="flex-1 text-right text-xs text-ink-3">
                    <Time at={created_at} />
                  </span>
                </span>
                <span className="text-xs text-ink-3 tabular-nums">
                  {counted(samples, "sample")} in {counted(trajectories, "trajectory", "trajectories")}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
