import { formatPoints } from "@presage/contract/describe-runs";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { usePresage } from "../../../data/client.ts";
import {
  type ComparedEvaluatorFilter,
  comparedSampleQuery,
  comparedSamplesQuery,
  type DifferingSample,
} from "../../../data/comparisons.ts";
import { formatCount, formatScore } from "../../../format/numbers.ts";
import type { ComparedEvaluator } from "../../../parts/evaluator-names.ts";
import { Card } from "../../../ui/card.tsx";
import type { DataColumn } from "../../../ui/data-table/columns.ts";
import { EndlessTable } from "../../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../../ui/data-table/table-model.ts";
import { TableTools } from "../../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../../ui/data-table/table-view.ts";
import { Drawer, DrawerHeader } from "../../../ui/dialog.tsx";
import { Segmented } from "../../../ui/form/choices.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { ScrollRegion } from "../../../ui/page.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { Beginning, InlineText, SampleName } from "../../../ui/untrusted-text/inline-text.tsx";
import type { CompareState } from "../compare-search.ts";
import { directions, readPlace, type SamplePlace, writePlace } from "../compare-search.ts";
import { type MarkedRun, nameRun } from "../run-mark.tsx";
import { PassRateBadge, SampleTexts } from "./sample-texts.tsx";

const onPaper = 20;

interface ChangedSamplesCardProps {
  evaluator: ComparedEvaluator;
  marked: readonly MarkedRun[];
  state: CompareState;
}

/** The samples on which a run and the reference differ, greatest differences first. */
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
  const openSample = (sample: DifferingSample) =>
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
    hasDrawer: true,
    openId: search.open,
    sorting: "server",
    spare: ["recorded", "difference"],
    onPaper,
    isMain: true,
  });
  if (reference === undefined || candidate === undefined || figures === undefined) return null;
  const counts = { worse: figures.losses, better: figures.wins };
  return (
    <Card
      title="Samples that differ"
      hint={
        <>
          Those that got {direction}, the largest difference first.{" "}
          <span className="print:hidden">Open one to see both outputs next to the recorded state.</span>
        </>
      }
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
          <TableTools table={table} hasMore={list.hasNextPage} />
        </>
      }
    >
      <EndlessTable
        table={table}
        list={list}
        expectedRows={6}
        empty={<p className="px-4 py-6 text-sm text-ink-2">There are none.</p>}
      />
      {counts[direction] > onPaper && (
        <p className="hidden px-4 py-2 text-sm print:block">
          and {formatCount(counts[direction] - onPaper)} more
        </p>
      )}
      <SampleDrawer
        place={readPlace(search.open)}
        sample={open}
        filter={filter}
        reference={reference}
        candidate={candidate}
        previous={samples[index - 1]}
        next={index < 0 ? undefined : samples[index + 1]}
        onCloseAutoFocus={table.takeFocusBack}
        onOpen={openSample}
        onClose={() => change({ open: undefined }, { replace: true })}
      />
    </Card>
  );
}

/** No column can be sorted: the server lists the greatest differences first. */
function sampleColumns(letters: { reference: string; candidate: string }): DataColumn<DifferingSample>[] {
  const scoreColumn = (run: "reference" | "candidate"): DataColumn<DifferingSample> => ({
    id: run,
    label: `${letters[run]}, ${run === "reference" ? "reference" : "compared"}`,
    hint: "Whether it passes, its mean score, and what was predicted from where it first differs from the recording.",
    value: (sample) => sample[run].score,
    cell: ({ [run]: { pass_rate, score }, said, recorded }) => (
      <span className="flex min-w-0 flex-col gap-0.5">
        <span className="flex items-center gap-2">
          <PassRateBadge passRate={pass_rate} />
          <span className="text-xs text-ink-3 tabular-nums">{formatScore(score)}</span>
        </span>
        {said[run] != null &&
          (said[run] === recorded ? (
            <span className="text-xs text-ink-3">as recorded</span>
          ) : (
            <Beginning text={said[run]} beside={recorded} />
          ))}
      </span>
    ),
    widthPx: 150,
    isElastic: true,
  });
  return [
    {
      id: "sample",
      label: "Sample",
      value: ({ dataset_sample_id }) => dataset_sample_id,
      cell: ({ dataset_sample_id }) => <SampleName id={dataset_sample_id} />,
      widthPx: 156,
      isFixed: true,
    },
    { id: "step", label: "Step", value: ({ step }) => step, widthPx: 72, isNumber: true, isExtra: true },
    {
      id: "action",
      label: "Action",
      value: ({ action }) => action,
      cell: ({ action }) => <Beginning text={action} />,
      widthPx: 120,
      isElastic: true,
    },
    {
      id: "recorded",
      label: "Recorded",
      hint: "The recorded next state, from where a prediction first differs from it.",
      value: ({ recorded }) => recorded,
      cell: ({ recorded, said }) => (
        <Beginning text={recorded} beside={said.candidate === recorded ? said.reference : said.candidate} />
      ),
      widthPx: 150,
      isElastic: true,
    },
    scoreColumn("reference"),
    scoreColumn("candidate"),
    {
      id: "difference",
      label: "Difference",
      hint: "Of the scores, in percentage points.",
      value: ({ difference }) => difference,
      cell: ({ difference }) => formatPoints(difference),
      widthPx: 104,
      isNumber: true,
    },
  ];
}

interface SampleDrawerProps {
  /** Absent: the drawer is closed. */
  place: SamplePlace | undefined;
  /** Undefined if the list is not loaded that far. */
  sample: DifferingSample | undefined;
  filter: ComparedEvaluatorFilter;
  reference: MarkedRun;
  candidate: MarkedRun;
  previous: DifferingSample | undefined;
  next: DifferingSample | undefined;
  onOpen(sample: DifferingSample): void;
  onClose(): void;
  onCloseAutoFocus(event: Event): void;
}

/** One sample: the predictions of both runs, next to the recording. */
function SampleDrawer({ place, sample, onClose, onCloseAutoFocus, ...props }: SampleDrawerProps) {
  const { filter, reference, candidate, previous, next, onOpen } = props;
  const presage = usePresage();
  const pair = { reference: reference.run.id, candidate: candidate.run.id };
  const isMissing = place !== undefined && sample === undefined;
  const found = useQuery({
    ...comparedSampleQuery(presage, pair, filter, place ?? { trajectory_id: "", step: 0 }),
    enabled: isMissing,
  });
  const shown = sample ?? found.data;
  const title = place === undefined ? "" : `${place.trajectory_id}, step ${place.step}`;
  return (
    <Drawer
      isOpen={place !== undefined}
      onClose={onClose}
      title={`Sample ${title}`}
      isWide
      onCloseAutoFocus={onCloseAutoFocus}
    >
      <DrawerHeader previous={previous} next={next} onOpen={onOpen} onClose={onClose}>
        <InlineText text={title} />
      </DrawerHeader>
      <ScrollRegion
        key={title}
        label="The sample"
        className="min-h-0 flex-1 overflow-y-auto -outline-offset-2"
      >
        {found.error !== null && isMissing && (
          <div className="p-4">
            <ErrorNotice error={found.error} onRetry={found.refetch} />
          </div>
        )}
        {shown === undefined
          ? found.isFetching && <SkeletonRows count={3} className="h-24" />
          : place !== undefined && (
              <SampleTexts sample={shown} place={place} reference={reference} candidate={candidate} />
            )}
      </ScrollRegion>
    </Drawer>
  );
}
