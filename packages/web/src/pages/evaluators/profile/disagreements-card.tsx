import type { Disagreement } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { usePresage } from "../../../data/client.ts";
import { disagreementsQuery } from "../../../data/evaluators.ts";
import { formatScore } from "../../../format/numbers.ts";
import { ResultDrawer } from "../../../parts/results/result-drawer.tsx";
import { Card } from "../../../ui/card.tsx";
import type { DataColumn } from "../../../ui/data-table/columns.ts";
import { DataTable } from "../../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../../ui/data-table/table-model.ts";
import { TableTools } from "../../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../../ui/data-table/table-view.ts";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { Beginning, InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { VerdictBadge } from "../../../ui/verdict.tsx";

const columns: readonly DataColumn<Disagreement>[] = [
  {
    id: "person",
    label: "The person",
    value: ({ correction }) => (correction.pass ? "pass" : "fail"),
    cell: ({ result_id, correction }) => (
      <>
        <span className="sr-only">Result {result_id}: </span>
        <VerdictBadge status="success" pass={correction.pass} />
      </>
    ),
    widthPx: 112,
    isFixed: true,
  },
  {
    id: "evaluator",
    label: "The evaluator",
    value: ({ pass }) => (pass ? "pass" : "fail"),
    cell: ({ pass }) => <VerdictBadge status="success" pass={pass} />,
    widthPx: 120,
  },
  {
    id: "score",
    label: "Score",
    hint: "The evaluator’s, from 0 to 1.",
    value: ({ score_raw }) => score_raw,
    cell: ({ score_raw }) => formatScore(score_raw),
    isNumber: true,
    widthPx: 80,
  },
  {
    id: "comment",
    label: "Comment",
    value: ({ correction }) => correction.comment,
    cell: ({ correction }) =>
      correction.comment === null ? (
        <span className="text-ink-3">–</span>
      ) : (
        <InlineText text={correction.comment} />
      ),
    widthPx: 168,
  },
  {
    id: "output",
    label: "Output",
    value: ({ output }) => output,
    cell: ({ output }) =>
      output === null ? <span className="text-ink-3">No output</span> : <Beginning text={output} />,
    widthPx: 240,
    isElastic: true,
  },
  {
    id: "revision",
    label: "Revision",
    value: ({ revision }) => revision,
    cell: ({ revision }) => (revision === null ? "–" : `r${revision}`),
    isNewestFirst: true,
    widthPx: 92,
  },
  {
    id: "when",
    label: "Corrected",
    value: ({ correction }) => correction.created_at,
    isNewestFirst: true,
    widthPx: 128,
  },
];

interface DisagreementsCardProps {
  publicId: string;
  openId: string | undefined;
  onOpen(id: string | undefined): void;
}

/** The verdicts that people reversed: a better profile would get them right. */
export function DisagreementsCard({ publicId, openId, onOpen }: DisagreementsCardProps) {
  const presage = usePresage();
  const { data: rows, error, refetch } = useQuery(disagreementsQuery(presage, publicId));
  const table = useDataTable({
    label: "Disagreements with people",
    spare: ["revision", "when", "score"],
    view: useTableView("disagreements", columns),
    columns,
    rows,
    rowId: ({ result_id }) => result_id,
    rowName: ({ result_id }) => `Result ${result_id}`,
    link: ({ result_id }) => ({
      to: "/evaluators/profiles/$publicId",
      params: { publicId },
      search: (current: object) => ({ ...current, result: result_id }),
    }),
    hasDrawer: true,
    openId,
  });
  if (rows?.length === 0) return null;
  return (
    <Card
      title="Disagreements with people"
      hint="Results whose verdict a person reversed, latest first."
      actions={<TableTools table={table} />}
    >
      {error !== null && rows === undefined ? (
        <div className="p-4">
          <ErrorNotice error={error} onRetry={refetch} />
        </div>
      ) : (
        <DataTable table={table} expectedRows={4} empty={null} />
      )}
      <ResultDrawer
        openId={openId}
        ids={table.sortedRows.map(({ id }) => id)}
        onOpen={onOpen}
        onClose={() => onOpen(undefined)}
      />
    </Card>
  );
}
