import type { ComparedSample } from "@presage/sdk";
import { useInfiniteQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { comparedSamplesQuery } from "../../../data/comparisons.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { formatPoints } from "../../../format/format-difference.ts";
import { formatCount, formatScore } from "../../../format/format-number.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { Select } from "../../../ui/form/inputs.tsx";
import { Segmented } from "../../../ui/form/segmented.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../../ui/table.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { directions, readPlace, writePlace } from "../compare-search.ts";
import type { ComparedEvaluator } from "../name-evaluator.ts";
import { RunMark } from "../run-mark.tsx";
import { type MarkedRun, nameRun } from "../run-marks.ts";
import type { CompareState } from "../use-compare.ts";
import { SampleDrawer } from "./sample-drawer.tsx";
import { SideBadge } from "./side-badge.tsx";
import { useListKeys } from "./use-list-keys.ts";

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
  const { activeIndex, previous, next } = useListKeys(samples, open, openSample);
  if (reference === undefined || candidate === undefined || figures === undefined) return null;
  const counts = { worse: figures.losses, better: figures.wins };
  return (
    <Card
      title="Samples that differ"
      hint="The most different first. Open one for both outputs beside the recorded state."
      actions={
        <>
          {candidates.length > 1 && (
            <Select
              aria-label="Compared run"
              className="max-w-56"
              value={candidate.run.id}
              onChange={({ target }) => change({ with: target.value, open: undefined })}
            >
              {candidates.map((one) => (
                <option key={one.run.id} value={one.run.id}>
                  {one.letter}: {nameRun(one, marked)}
                </option>
              ))}
            </Select>
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
        </>
      }
    >
      {list.error !== null && (
        <div className="p-4">
          <ErrorNotice error={list.error} onRetry={list.refetch} />
        </div>
      )}
      {list.isPending ? (
        <SkeletonRows count={6} className="h-6" />
      ) : (
        <SampleTable
          {...{ samples, reference, candidate, activeIndex, openId: search.open }}
          onOpen={openSample}
        />
      )}
      {list.hasNextPage && (
        <div className="border-t border-line px-4 py-2">
          <Button size="small" isBusy={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
            Load more
          </Button>
        </div>
      )}
      <SampleDrawer
        place={readPlace(search.open)}
        sample={open}
        filter={filter}
        {...{ reference, candidate, previous, next }}
        onOpen={openSample}
        onClose={() => change({ open: undefined }, { replace: true })}
      />
    </Card>
  );
}

interface SampleTableProps {
  samples: readonly ComparedSample[];
  reference: MarkedRun;
  candidate: MarkedRun;
  activeIndex: number;
  openId: string | undefined;
  onOpen(sample: ComparedSample): void;
}

function SampleTable({ samples, reference, candidate, activeIndex, openId, onOpen }: SampleTableProps) {
  if (samples.length === 0) return <p className="px-4 py-6 text-sm text-ink-2">There are none.</p>;
  return (
    <Table label="Samples that differ">
      <thead>
        <tr className="border-b border-line">
          <HeaderCell>Sample</HeaderCell>
          <HeaderCell isNumber>Step</HeaderCell>
          {[reference, candidate].map((one) => (
            <HeaderCell key={one.run.id}>
              <span className="inline-flex items-center gap-1.5">
                <RunMark {...one} /> {one === reference ? "reference" : "compared"}
              </span>
            </HeaderCell>
          ))}
          <HeaderCell isNumber>Difference</HeaderCell>
        </tr>
      </thead>
      <tbody>
        {samples.map((sample, index) => (
          <tr
            key={sample.dataset_sample_id}
            data-row={index}
            data-active={index === activeIndex || undefined}
            className={clsx(
              "border-b border-line last:border-0 hover:bg-hover data-active:bg-hover",
              writePlace(sample) === openId && "bg-accent-soft!",
            )}
          >
            <RowHeader className="max-w-80">
              <button
                type="button"
                className="block max-w-full truncate text-left text-accent-ink hover:underline"
                onClick={() => onOpen(sample)}
              >
                <InlineText text={sample.dataset_sample_id} />
              </button>
            </RowHeader>
            <Cell isNumber>{sample.step}</Cell>
            {[sample.reference, sample.candidate].map((side, place) => (
              <Cell key={place === 0 ? "reference" : "candidate"}>
                <span className="inline-flex items-center gap-2">
                  <SideBadge passRate={side.pass_rate} />
                  <span className="text-xs text-ink-3 tabular-nums">{formatScore(side.score)}</span>
                </span>
              </Cell>
            ))}
            <Cell isNumber className="font-medium">
              {formatPoints(sample.difference)}
            </Cell>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
