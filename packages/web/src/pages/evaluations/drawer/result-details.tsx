import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { type ResultRow, resultQuery } from "../../../data/evaluation/evaluation-results.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { DrawerHeader } from "../../../ui/overlay/drawer-header.tsx";
import { ScrollRegion } from "../../../ui/scroll-region.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";
import type { Explorer } from "../use-explorer.ts";
import { ResultBody } from "./result-body.tsx";
import type { TextName } from "./result-texts.tsx";
import { VerdictLine } from "./verdict-line.tsx";

interface ResultDetailsProps {
  id: string;
  /** The list's part of the result, shown until the whole result is loaded. */
  row: ResultRow | undefined;
  previous: string | undefined;
  next: string | undefined;
  explorer: Explorer;
  /** Above the result: what belongs to its sample. */
  above?: ReactNode;
  onOpen(id: string): void;
  onClose(): void;
}

export function ResultDetails({ id, row, explorer, above, ...ways }: ResultDetailsProps) {
  const presage = usePresage();
  const [text, chooseText] = useState<TextName>();
  const { data: result, error, refetch } = useQuery(resultQuery(presage, id));
  const region = useLostFocus(id);
  return (
    <>
      <DrawerHeader {...ways}>
        Result <span className="tabular-nums">{id}</span>
      </DrawerHeader>
      {above}
      <ScrollRegion
        key={id}
        ref={region}
        label="The result"
        className="min-h-0 flex-1 overflow-y-auto -outline-offset-2"
      >
        {result !== undefined && (
          <ResultBody result={result} explorer={explorer} text={text} onChooseText={chooseText} />
        )}
        {result === undefined && (
          <div className="flex flex-col gap-4 p-4">
            {error !== null && <ErrorNotice error={error} onRetry={refetch} />}
            {row !== undefined && <VerdictLine verdict={row} />}
            {row !== undefined && row.excerpt !== null && (
              <PlainText text={row.excerpt} label="Beginning of the output" />
            )}
            {row === undefined && error === null && (
              <div role="status" className="flex flex-col gap-4">
                <span className="sr-only">Loading</span>
                <Skeleton className="h-8" />
                <Skeleton className="h-64" />
              </div>
            )}
          </div>
        )}
      </ScrollRegion>
    </>
  );
}

/** Takes the focus if the focused element disappears with its result. The drawer has it when it opens. */
function useLostFocus(id: string) {
  const region = useRef<HTMLDivElement>(null);
  const shownId = useRef(id);
  useEffect(() => {
    if (shownId.current !== id && document.activeElement === document.body) region.current?.focus();
    shownId.current = id;
  }, [id]);
  return region;
}
