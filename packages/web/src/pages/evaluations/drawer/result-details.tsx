import { useQuery } from "@tanstack/react-query";
import { resultQuery } from "../../../data/evaluation-results.ts";
import type { ResultRow } from "../../../data/result-row.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { PlainText } from "../../../ui/text/plain-text.tsx";
import type { Explorer } from "../use-explorer.ts";
import { ResultBody } from "./result-body.tsx";
import { ResultHeader } from "./result-header.tsx";
import { VerdictLine } from "./verdict-line.tsx";

interface ResultDetailsProps {
  id: string;
  /** What the list knows of it, which is shown until all of it is there. */
  row: ResultRow | undefined;
  previousId: string | undefined;
  nextId: string | undefined;
  explorer: Explorer;
  onOpen(id: string): void;
  onClose(): void;
}

/** One result with all that is known of it. */
export function ResultDetails({ id, row, explorer, ...ways }: ResultDetailsProps) {
  const presage = usePresage();
  const { data: result, error, refetch } = useQuery(resultQuery(presage, id));
  return (
    <>
      <ResultHeader id={id} {...ways} />
      <div key={id} className="min-h-0 flex-1 overflow-y-auto">
        {result !== undefined && <ResultBody result={result} explorer={explorer} />}
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
      </div>
    </>
  );
}
