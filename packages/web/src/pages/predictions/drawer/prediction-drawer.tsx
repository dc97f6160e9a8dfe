import { useQuery } from "@tanstack/react-query";
import { storedPredictionQuery } from "../../../data/stored-predictions.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { Drawer } from "../../../ui/overlay/drawer.tsx";
import { DrawerHeader } from "../../../ui/overlay/drawer-header.tsx";
import { ScrollRegion } from "../../../ui/scroll-region.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import type { PredictionLog } from "../use-log.ts";
import { PredictionDetail } from "./prediction-detail.tsx";

interface PredictionDrawerProps {
  /** Absent: closed. */
  id: string | undefined;
  previous: string | undefined;
  next: string | undefined;
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
  log,
  onOpen,
  ...neighbours
}: Omit<PredictionDrawerProps, "id" | "onCloseAutoFocus"> & { id: string }) {
  const presage = usePresage();
  const { data: prediction, error, refetch } = useQuery(storedPredictionQuery(presage, id));
  return (
    <>
      <DrawerHeader {...neighbours} onOpen={onOpen} onClose={() => onOpen(undefined)}>
        Prediction <span className="font-mono text-xs font-normal text-ink-2">{id}</span>
      </DrawerHeader>
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
