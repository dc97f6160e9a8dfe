import { useQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { ChevronDown, ChevronUp, X } from "lucide-react";
import { keptPredictionQuery } from "../../../data/kept-predictions.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { IconButton } from "../../../ui/icon-button.tsx";
import { Drawer } from "../../../ui/overlay/drawer.tsx";
import { ScrollRegion } from "../../../ui/scroll-region.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import type { PredictionLog } from "../use-log.ts";
import { PredictionDetail } from "./prediction-detail.tsx";

interface PredictionDrawerProps {
  /** Absent: closed. */
  id: string | undefined;
  previousId: string | undefined;
  nextId: string | undefined;
  log: PredictionLog;
  onOpen(id: string | undefined): void;
  onCloseAutoFocus(event: Event): void;
}

export function PredictionDrawer({ id, onOpen, onCloseAutoFocus, ...rest }: PredictionDrawerProps) {
  return (
    <Drawer
      isOpen={id !== undefined}
      onClose={() => onOpen(undefined)}
      title={`Prediction ${id}`}
      onCloseAutoFocus={onCloseAutoFocus}
    >
      {id !== undefined && <OpenPrediction key={id} id={id} onOpen={onOpen} {...rest} />}
    </Drawer>
  );
}

function OpenPrediction({
  id,
  previousId,
  nextId,
  log,
  onOpen,
}: Omit<PredictionDrawerProps, "id" | "onCloseAutoFocus"> & { id: string }) {
  const presage = usePresage();
  const { href } = useLocation();
  const { data: prediction, error, refetch } = useQuery(keptPredictionQuery(presage, id));
  return (
    <>
      <div className="flex h-12 shrink-0 items-center gap-1 border-b border-line px-3 sm:px-4">
        <h2 className="min-w-0 flex-1 truncate text-sm font-semibold">
          Prediction <span className="font-mono text-xs font-normal text-ink-2">{id}</span>
        </h2>
        <IconButton
          label="Previous (K)"
          icon={<ChevronUp aria-hidden />}
          disabled={previousId === undefined}
          onClick={() => onOpen(previousId)}
        />
        <IconButton
          label="Next (J)"
          icon={<ChevronDown aria-hidden />}
          disabled={nextId === undefined}
          onClick={() => onOpen(nextId)}
        />
        <CopyButton text={location.origin + href} label="Copy link" />
        <IconButton label="Close (Esc)" icon={<X aria-hidden />} onClick={() => onOpen(undefined)} />
      </div>
      <ScrollRegion label="The prediction" className="min-h-0 flex-1 overflow-y-auto -outline-offset-2">
        {error !== null && prediction === undefined && (
          <div className="p-4">
            <ErrorNotice error={error} onRetry={refetch} />
          </div>
        )}
        {prediction === undefined ? (
          error === null && <SkeletonRows count={4} className="h-20" />
        ) : (
          <PredictionDetail prediction={prediction} log={log} onDeleted={() => onOpen(undefined)} />
        )}
      </ScrollRegion>
    </>
  );
}
