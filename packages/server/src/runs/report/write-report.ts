import type { RunReport } from "@presage/contract";
import { selectDataset } from "../../datasets/datasets.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import { reportDocument } from "./report-document.ts";
import { toHtml } from "./to-html.ts";
import { toMarkdown } from "./to-markdown.ts";

/** A report for people, as a page or as Markdown. */
export async function writeReport(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  report: RunReport,
  format: "html" | "md",
): Promise<string> {
  const { name, dataset_id: id } = report.run;
  const dataset =
    id === null ? undefined : await selectDataset(store.briefReader(requester), requester.accountId, id);
  const document = reportDocument(report, dataset?.name);
  return format === "md" ? toMarkdown(document) : toHtml(`Run ${name}`, document);
}
