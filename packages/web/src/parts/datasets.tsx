import type { World } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { usePresage } from "../data/client.ts";
import { datasetNamesQuery } from "../data/datasets.ts";
import { Badge } from "../ui/badge.tsx";
import { InlineText } from "../ui/untrusted-text/inline-text.tsx";

/** The dataset that a result names: if Presage has it, its name with a link to its page, otherwise the text. */
export function DatasetLink({ id }: { id: string }) {
  const name = useDatasetName(id);
  if (name === undefined) return <InlineText text={id} />;
  return (
    <Link
      to="/datasets/$datasetId"
      params={{ datasetId: id }}
      className="text-accent-ink underline-offset-2 hover:underline"
    >
      <InlineText text={name} />
    </Link>
  );
}

/** Like `DatasetLink`, for places where links are not possible. */
export function DatasetName({ id }: { id: string }) {
  return <InlineText text={useDatasetName(id) ?? id} />;
}

function useDatasetName(id: string): string | undefined {
  const { data: names } = useQuery(datasetNamesQuery(usePresage()));
  return names?.get(id);
}

interface ExampleLinkProps {
  example: { trajectory_id?: string | undefined; dataset_sample_id?: string | undefined };
  pinned: NonNullable<World["pinned"]["examples"]>;
  children: ReactNode;
}

/** Links to an example's step in the world's dataset. */
export function ExampleLink({
  example: { trajectory_id, dataset_sample_id },
  pinned: { dataset_id, revision },
  children,
}: ExampleLinkProps) {
  if (trajectory_id === undefined) return null;
  // Generated ids consist of the trajectory's id and the step.
  const step = dataset_sample_id?.startsWith(`${trajectory_id}/`)
    ? Number(dataset_sample_id.slice(trajectory_id.length + 1))
    : Number.NaN;
  return (
    <Link
      to="/datasets/$datasetId/trajectories/$trajectoryId"
      params={{ datasetId: dataset_id, trajectoryId: trajectory_id }}
      search={{ revision, ...(Number.isSafeInteger(step) && { step }) }}
      className="self-start text-sm text-accent-ink underline-offset-2 hover:underline"
    >
      {children}
    </Link>
  );
}

/** Tags as `name=value`. */
export function TagList({ tags }: { tags: Readonly<Record<string, string>> | null | undefined }) {
  const entries = Object.entries(tags ?? {});
  if (entries.length === 0) return <span className="text-ink-3">–</span>;
  return (
    <span className="inline-flex max-w-full min-w-0 flex-wrap gap-1">
      {entries.map(([name, value]) => (
        <Badge key={name}>
          <InlineText text={`${name}=${value}`} />
        </Badge>
      ))}
    </span>
  );
}
