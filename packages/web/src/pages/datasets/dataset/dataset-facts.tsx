import type { Dataset, DatasetRevision } from "@presage/sdk";
import { formatCount } from "../../../format/format-number.ts";
import { formatSize } from "../../../format/format-size.ts";
import { Card } from "../../../ui/card.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Fact } from "../../../ui/fact.tsx";
import { Time } from "../../../ui/time.tsx";

interface DatasetFactsProps {
  dataset: Dataset;
  /** Undefined while loading. */
  revision: DatasetRevision | undefined;
}

export function DatasetFacts({ dataset, revision }: DatasetFactsProps) {
  const { samples, trajectories, bytes, digest, created_at } = revision ?? {};
  const number = (value: number | undefined) => (value === undefined ? "…" : formatCount(value));
  const perTrajectory =
    samples === undefined || !trajectories ? "…" : (samples / trajectories).toFixed(1).replace(/\.0$/, "");
  return (
    <Card title={revision === undefined ? "Facts" : `Revision ${revision.revision}`}>
      <dl className="grid grid-cols-[8rem_1fr] text-sm tabular-nums">
        <Fact look="lined" name="Samples">
          {number(samples)}
        </Fact>
        <Fact look="lined" name="Trajectories">
          {number(trajectories)}
          <span className="text-xs text-ink-3">{perTrajectory} steps each on average</span>
        </Fact>
        <Fact look="lined" name="Size">
          {bytes === undefined ? "…" : formatSize(bytes)}
        </Fact>
        <Fact look="lined" name="Digest">
          <code className="min-w-0 truncate font-mono text-xs" title="SHA-256 of the exported lines">
            {digest ?? "…"}
          </code>
          {digest !== undefined && <CopyButton text={digest} label="Copy the digest" />}
        </Fact>
        <Fact look="lined" name="Uploaded">
          {created_at === undefined ? "…" : <Time at={created_at} />}
        </Fact>
        <Fact look="lined" name="Dataset ID">
          <code className="min-w-0 truncate font-mono text-xs">{dataset.id}</code>
          <CopyButton text={dataset.id} label="Copy the dataset’s ID" />
        </Fact>
      </dl>
    </Card>
  );
}
