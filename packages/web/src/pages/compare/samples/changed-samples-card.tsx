import type { ComparedSample } from "@presage/sdk";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { comparedSamplesQuery } from "../../../data/runs/comparisons.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { formatCount } from "../../../format/format-number.ts";
import type { ComparedEvaluator } from "../../../parts/evaluators.tsx";
import { Card } from "../../../ui/card.tsx";
import { EndlessTable } from "../../../ui/data-table/endless-table.tsx";
import { TableTools } from "../../../ui/data-table/table-tools.tsx";
import { useDataTable } from "../../../ui/data-table/use-data-table.ts";
import { useTableView } from "../../../ui/data-table/use-table-view.ts";
import { Segmented } from "../../../ui/form/segmented.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { directions, readPlace, writePlace } from "../compare-search.ts";
import { type MarkedRun, nameRun } from "../run-marks.ts";
import type { CompareState } from "../use-compare.ts";
import { sampleColumns } from "./sample-columns.tsx";
import { SampleDrawer } from "./sample-drawer.tsx";

interface ChangedSamplesCardProps {
  evaluator: ComparedEvaluator;
  marked: readonly MarkedRun[];
  state: CompareState;
}

/** The samples on which a run and the reference differ, the most different first. */
export function ChangedSamplesCard({ evaluator, marked, state }: ChangedSamplesCardProps) {
  const { search, change } = state;
  const presage = usePresage();
  const [reference] = marked;
  const candidates = marked.filter(({ run }) => evaluator.candidates.some(({ run_id }) => run_id === run.id));
  const candidate = candidates.find(({ run }) => run.id === search.with) ?? candidates[0];
  const figures = evaluator.candidates.find(({ run_id }) => run_id === candidate?.run.id);
  const direction = search.direction ?? (figures?.losses === 0 && figures.wins > 0 ? "better" : "worse");
  const pair = { reference: reference?.run.id ?? "", candidate: candidate?.run.id ?? "" };
  const filter = {
    evaluator: evaluator.evaluator,
    ...(evaluator.profile_name !== null && { profile_name: evaluator.profile_name }),
  };
  const list = useInfiniteQuery({
    ...comparedSamplesQuery(presage, pair, { ...filter, direction }),
    enabled: candidate !== undefined,
  });
  const samples = list.data ?? [];
  const open = samples.find((sample) => writePlace(sample) === search.open);
  const openSample = (sample: ComparedSample) =>
    change({ open: writePlace(sample) }, { replace: search.open !== undefined });
  const index = open === undefined ? -1 : samples.indexOf(open);
  const columns = useMemo(
    () => sampleColumns({ reference: reference?.letter ?? "", candidate: candidate?.letter ?? "" }),
    [reference?.letter, candidate?.letter],
  );
  const view = useTableView("compared-samples", columns);
  const table = useDataTable({
    label: "Samples that differ",
    view,
    columns,
    rows: list.data,
    rowId: (sample) => writePlace(sample),
    rowName: ({ dataset_sample_id }) => dataset_sample_id,
    link: (sample) => ({ to: "/compare", search: { ...search, open: writePlace(sample) } }),
    openId: search.open,
    sorting: "server",
    isMain: true,
  });
  if (reference === undefined || candidate === undefined || figures === undefined) return null;
  const counts = { worse: figures.losses, better: figures.wins };
  return (
    <Card
      title="Samples that differ"
      hint="Largest difference first. Open one to see both outputs next to the recorded state."
      actions={
        <>
          {candidates.length > 1 && (
            <Select
              aria-label="Compared run"
              className="max-w-56"
              value={candidate.run.id}
              options={candidates.map((one) => ({
                value: one.run.id,
                label: `${one.letter}: ${nameRun(one, marked)}`,
              }))}
              onChange={(runId) => change({ with: runId, open: undefined })}
            />
          )}
          <Segmented
            label="Direction"
            value={direction}
            options={directions.map((value) => ({
              value,
              label: `${value === "worse" ? "Got worse" : "Got better"} (${formatCount(counts[value])})`,
            }))}
            onChange={(value) => change({ direction: value, open: undefined })}
          />
          <TableTools table={table} />
        </>
      }
    >
      <EndlessTable
        table={table}
        list={list}
        expectedRows={6}
        empty={<p className="px-4 py-6 text-sm text-ink-2">There are none.</p>}
      />
      <SampleDrawer
        place={readPlace(search.open)}
        sample={open}
        filter={filter}
        {...{ reference, candidate }}
        previous={samples[index - 1]}
        next={index < 0 ? undefined : samples[index + 1]}
        onCloseAutoFocus={table.takeFocusBack}
        onOpen={openSample}
        onClose={() => change({ open: undefined }, { replace: true })}
      />
    </Card>
  );
}
