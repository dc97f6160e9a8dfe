import type { Comparison } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowUpToLine, Plus, X } from "lucide-react";
import { useState } from "react";
import { usePresage } from "../../../data/client.ts";
import { datasetNamesQuery } from "../../../data/datasets.ts";
import { formatCount } from "../../../format/numbers.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import type { MarkedRun } from "../run-mark.tsx";
import { RunName } from "../run-mark.tsx";
import { describeRevision, describeTarget, RunChooser } from "./run-chooser.tsx";

interface ChosenRunsProps {
  marked: readonly MarkedRun[];
  runs: Comparison["runs"];
  runIds: readonly string[];
  choose(runIds: readonly string[]): void;
}

/** The compared runs with their properties, a choice of the reference, and a way to compare other runs. */
export function ChosenRuns({ marked, runs, runIds, choose }: ChosenRunsProps) {
  const [isChoosing, setChoosing] = useState(false);
  const presage = usePresage();
  const { data: datasetNames } = useQuery(datasetNamesQuery(presage));
  const without = (id: string) => runIds.filter((other) => other !== id);
  return (
    <Card
      title="Runs"
      actions={
        <Button size="small" icon={<Plus aria-hidden />} onClick={() => setChoosing(true)}>
          Choose runs
        </Button>
      }
    >
      <ul className="divide-y divide-line">
        {marked.map((one, index) => (
          <li key={one.run.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2 text-sm">
            <span className="flex min-w-0 basis-80 items-center gap-2 font-medium max-sm:basis-full">
              <Link
                to="/runs/$runId"
                params={{ runId: one.run.id }}
                className="min-w-0 rounded-sm hover:underline"
              >
                <RunName marked={one} />
              </Link>
              {index === 0 && <Badge tone="accent">Reference</Badge>}
            </span>
            <span className="min-w-0 flex-1 basis-64 text-xs text-ink-3">
              <InlineText
                text={`${describeRevision(one.run, datasetNames)} · ${describeTarget(one.run)} · ${one.run.mode}`}
              />
              {one.run.repeats > 1 && ` · ${one.run.repeats} repeats`}
              {one.run.status !== "finished" && (
                <span className="text-warn"> · {one.run.status}: its figures are not final</span>
              )}
              {leftOut(runs, one.run.id)}
            </span>
            <span className="flex shrink-0 items-center gap-1">
              {index > 0 && (
                <Button
                  size="small"
                  variant="quiet"
                  icon={<ArrowUpToLine aria-hidden />}
                  onClick={() => choose([one.run.id, ...without(one.run.id)])}
                >
                  Make reference
                </Button>
              )}
              {runIds.length > 2 && (
                <IconButton
                  label={`Leave out ${one.letter}`}
                  icon={<X aria-hidden />}
                  onClick={() => choose(without(one.run.id))}
                />
              )}
            </span>
          </li>
        ))}
      </ul>
      <Dialog isOpen={isChoosing} onClose={() => setChoosing(false)} title="Choose runs" isWide>
        <div className="-mx-5 -mb-5">
          <RunChooser
            chosenIds={runIds}
            onChoose={(ids) => {
              choose(ids);
              setChoosing(false);
            }}
          />
        </div>
      </Dialog>
    </Card>
  );
}

function leftOut(runs: Comparison["runs"], id: string): string {
  const count = runs.find((run) => run.id === id)?.left_out ?? 0;
  return count === 0
    ? ""
    : ` · ${formatCount(count)} of its samples are in no other run’s revision, and left out`;
}
