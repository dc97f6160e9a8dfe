import { expect, test } from "bun:test";
import { Comparison } from "@presage/contract";
import { toHtml, toMarkdown } from "../report/pages.ts";
import { exampleComparison as documented } from "./compare-route.ts";
import { comparisonDocument } from "./comparison-document.ts";

const exampleComparison = Comparison.parse(documented);

/** The example with this text in every place that a user or a model fills. */
function comparisonOf(text: string): Comparison {
  return {
    ...exampleComparison,
    runs: exampleComparison.runs.map((run) => ({ ...run, name: text, target: { deployment: text } })),
    evaluators: exampleComparison.evaluators.map((one) => ({ ...one, evaluator: text, profile_name: text })),
  };
}

const documentOf = (text: string) => comparisonDocument(comparisonOf(text), new Map());
const tagsOf = (text: string) =>
  [...toHtml(text, documentOf(text)).matchAll(/<\/?[a-z!][^>]*>/gi)].map(([tag]) => tag);

test("a page has the same elements whatever the names are", () => {
  const hostile = `<script>alert(1)</script> "><img src=x onerror=alert(1)> </td></svg><style>*{}</style> & \u202e\0`;
  expect(tagsOf(hostile)).toEqual(tagsOf("plain"));
});

test("a comparison says its sentence first, and has each figure with its interval, counts and clusters", () => {
  const { dataset_id } = exampleComparison.runs[0] ?? {};
  const names = new Map([[dataset_id ?? "", "household"]]);
  const markdown = toMarkdown(comparisonDocument(exampleComparison, names));
  expect(markdown).toStartWith(
    "# “sandbox, warmer” against “sandbox, teacher-forced”\n\n2 runs, paired by sample.\n\nNo difference between “sandbox, warmer” and “sandbox, teacher-forced” can",
  );
  expect(markdown).toContain("household, revision 1");
  expect(markdown).toContain("the deployment sandbox");
  expect(markdown).toMatch(/\| sandbox, warmer \|.* −2\.0 \| −7\.1 to &#43;3\.1 \| 0\.410 \| 388 \| 12 \|/);
  expect(markdown).toContain("| Difference with failures |");
  expect(markdown).toMatch(/\| reference \| +\| +\| \d+ \| +\| +\| +\| +\|\n/);
  const tooFew = exampleComparison.evaluators.map(({ candidates, ...one }) => ({
    ...one,
    candidates: candidates.map((candidate) => ({ ...candidate, min_detectable: 1.561 })),
  }));
  const unseen = toMarkdown(comparisonDocument({ ...exampleComparison, evaluators: tooFew }, names));
  expect(unseen).toMatch(/\| sandbox, warmer \|.* none \|\n/);
  expect(unseen).not.toContain("156.1");
  const html = toHtml("x", comparisonDocument(exampleComparison, names));
  expect(html.match(/<line class="interval"/g)).toHaveLength(1);
});
