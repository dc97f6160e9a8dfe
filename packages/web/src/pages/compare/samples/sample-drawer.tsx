import type { ComparedSample } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { type ComparedEvaluatorFilter, comparedSampleQuery } from "../../../data/runs/comparisons.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { Drawer } from "../../../ui/overlay/drawer.tsx";
import { DrawerHeader } from "../../../ui/overlay/drawer-header.tsx";
import { ScrollRegion } from "../../../ui/scroll-region.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import type { SamplePlace } from "../compare-search.ts";
import type { MarkedRun } from "../run-marks.ts";
import { SampleTexts } from "./sample-texts.tsx";

interface SampleDrawerProps {
  /** Absent: closed. */
  place: SamplePlace | undefined;
  /** Undefined if the list is not loaded that far. */
  sample: ComparedSample | undefined;
  filter: ComparedEvaluatorFilter;
  reference: MarkedRun;
  candidate: MarkedRun;
  previous: ComparedSample | undefined;
  next: ComparedSample | undefined;
  onOpen(sample: ComparedSample): void;
  onClose(): void;
  onCloseAutoFocus(event: Event): void;
}

/** One sample: what both runs predicted, beside what was recorded. */
export function SampleDrawer({ place, sample, onClose, onCloseAutoFocus, ...props }: SampleDrawerProps) {
  const { filter, reference, candidate, previous, next, onOpen } = props;
  const presage = usePresage();
  const pair = { reference: reference.run.id, candidate: candidate.run.id };
  const isMissing = place !== undefined && sample === undefined;
  const found = useQuery({
    ...comparedSampleQuery(presage, pair, filter, place ?? { trajectory_id: "", step: 0 }),
    enabled: isMissing,
  });
  const sides = sample ?? found.data;
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
        {sides === undefined
          ? found.isFetching && <SkeletonRows count={3} className="h-24" />
          : place !== undefined && <SampleTexts {...{ sides, place, reference, candidate }} />}
      </ScrollRegion>
    </Drawer>
  );
}
