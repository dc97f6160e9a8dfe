import { expect, test } from "bun:test";
import { RunReport, type RunStratum } from "@presage/contract";
import { describeDecision } from "@presage/contract/describe-runs";
import { describeEvaluator, reportDocument } from "./document.ts";
import { toHtml, toMarkdown } from "./pages.ts";
import { exampleReport as documented } from "./report-route.ts";

const exampleReport = RunReport.parse(documented);

const hostile = [
  `<script>alert(1)</script>`,
  `"><img src=x onerror=alert(1)>`,
  "a | b \\| c `code` ``` fence",
  "[link](javascript:alert(1)) ![image](https://evil.example/x) https://evil.example www.evil.example",
  "line\n\n# heading\r\n- item\u2028<b>",
  "@everyone &lt;b&gt; &#60;i&#62; \u202eabc\0",
  "</pre></td></table><style>*{}</style>",
].join(" ");

/** The example with this text in every place that a user, a model or a dataset fills. */
function reportOf(text: string): RunReport {
  const rename = (strata: RunStratum[]) => strata.map((stratum) => ({ ...stratum, key: text }));
  return {
    ...exampleReport,
    run: {
      ...exampleReport.run,
      name: text,
      status_reason: text,
      notes: [text],
      tags: { [text]: text },
      target: { deployment: text },
      params: { [text]: text },
    },
    evaluators: exampleReport.evaluators.map((one) => ({
      ...one,
      evaluator: text,
      profile_name: text,
      strata: {
        ...one.strata,
        step: [0, 1, 2].flatMap((key) => one.strata.step.map((stratum) => ({ ...stratum, key }))),
        trajectory: rename(one.strata.trajectory),
        verb: rename(one.strata.verb),
        tag: rename(one.strata.tag),
      },
    })),
    failures: { predictions: { [text]: 1 }, evaluations: {} },
    provenance: { ...exampleReport.provenance, models: [text], warnings: [text] },
  };
}

const tagsOf = (html: string) => [...html.matchAll(/<\/?[a-z!][^>]*>/gi)].map(([tag]) => tag);

test("a page has the same elements whatever the texts are, and none that loads or runs", () => {
  const tags = tagsOf(toHtml(hostile, reportDocument(reportOf(hostile))));
  expect(tags).toEqual(tagsOf(toHtml("plain", reportDocument(reportOf("plain")))));
  const names = new Set(tags.map((tag) => /\w+/.exec(tag)?.[0]));
  expect([...names].sort()).toEqual(
    [
      ..."body details div doctype h1 h2 h3 head html meta p pre style summary table tbody td th thead title tr".split(
        " ",
      ),
      ..."circle figcaption figure line polygon polyline svg text".split(" "),
    ].sort(),
  );
});

test("a page shows the texts, without what would hide them", () => {
  const html = toHtml("x", reportDocument(reportOf("a <b> & \u202e\0c")));
  expect(html).toContain("<h1>Run a &lt;b&gt; &amp; \ufffd\ufffdc</h1>");
  expect(html).not.toMatch(/[\0\u202e]/);
});

/** Markdown without its code blocks. */
function withoutBlocks(markdown: string): string[] {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of markdown.split("\n")) {
    const [marks] = /^`{3,}$/.exec(line) ?? [];
    if (fence === undefined && marks !== undefined) fence = marks;
    else if (fence !== undefined && marks !== undefined && marks.length >= fence.length) fence = undefined;
    else if (fence === undefined) lines.push(line);
  }
  expect(fence).toBeUndefined();
  return lines;
}

test("Markdown has the same lines, cells and blocks whatever the texts are", () => {
  const shapeOf = (text: string) =>
    withoutBlocks(toMarkdown(reportDocument(reportOf(text)))).map((line) =>
      line.startsWith("|") ? line.split("|").length : /^#*/.exec(line)?.[0],
    );
  expect(shapeOf(hostile)).toEqual(shapeOf("plain"));
});

test("outside of blocks, Markdown has no mark of a text that means something", () => {
  for (const line of withoutBlocks(toMarkdown(reportDocument(reportOf(hostile))))) {
    const text = line
      .replace(/^#+ /, "")
      .replaceAll(/&#\d+;/g, "")
      .replaceAll(/(^| )\|(?= |$)/g, "");
    expect(text).not.toMatch(/<(?! )|[>`[\]\\*_|@&!#~]|:\/\/|www\./);
  }
});

test("a block is longer than the longest run of backticks in it", () => {
  const markdown = toMarkdown([{ kind: "block", text: "a\n`````\nb ``````` c" }]);
  expect(markdown).toBe("````````\na\n`````\nb ``````` c\n````````\n");
});

test("a report begins with its dataset, whether the goal is met and the baseline; without a goal, the first evaluator's sentence", () => {
  const document = reportDocument(exampleReport, { dataset: "household <3>" });
  const [evaluator] = exampleReport.evaluators;
  if (evaluator === undefined) throw new Error("The example has no evaluator");
  const sentence = describeEvaluator(evaluator);
  const [decision] = describeDecision(exampleReport);
  expect(toHtml("x", document)).toContain(
    `<p>Predicted by the deployment sandbox. Dataset household &lt;3&gt;, revision 1; teacher-forced; finished.</p>\n<p class="lead">${decision}</p>\n<p>The best baseline, no-change, passes 30.0 %.</p>`,
  );
  const undecided = toMarkdown(reportDocument({ ...exampleReport, goal: null }));
  expect(undecided).toContain(`; finished.\n\n${sentence}\n`);
});

test("a long table with a title is folded on a page, and a heading with all of it in Markdown", () => {
  const table = (rows: number) => ({
    kind: "table" as const,
    title: "By <step>",
    columns: ["Step"],
    rows: Array.from({ length: rows }, (_, step) => [String(step)]),
  });
  expect(toHtml("x", [table(6)])).toContain("<summary>By &lt;step&gt; <small>6 rows</small></summary>");
  expect(toHtml("x", [table(5)])).toContain("<h3>By &lt;step&gt;</h3>\n<div>\n<table>");
  expect(toMarkdown([table(6)])).toStartWith("### By &#60;step&#62;\n\n| Step |");
});

test("a page draws the pass rates by step with their intervals, one step alone not", () => {
  expect(toHtml("x", reportDocument(exampleReport))).not.toContain("<polygon");
  const html = toHtml("x", reportDocument(reportOf("plain")));
  expect(html).toContain("plain plain: pass rate by step, with its 95\u00a0% interval.");
  expect(html.match(/<circle [^>]*r="2.5"/g)).toHaveLength(3);
  expect(html).toMatch(
    /<polygon points="48\.0,\S+ 358\.0,\S+ 668\.0,\S+ 668\.0,\S+ 358\.0,\S+ 48\.0,[\d.]+"/,
  );
});

test("a small p-value stays readable in Markdown, and a tag does not become one", () => {
  const markdown = toMarkdown([{ kind: "paragraph", text: "p < 0.001 and <b> <" }]);
  expect(markdown).toBe("p < 0.001 and &#60;b&#62; &#60;\n");
});

test("figures stay readable in Markdown, and rows cannot start lists", () => {
  const markdown = toMarkdown([
    { kind: "table", columns: ["A: b"], rows: [["0.800 to 0.900"], ["-"], ["open_door"]] },
    { kind: "paragraph", text: "1. first" },
  ]);
  expect(markdown).toBe(
    "| A: b |\n| --- |\n| 0.800 to 0.900 |\n| &#45; |\n| open&#95;door |\n\n1&#46; first\n",
  );
});

test("a rate of thousands is written without an exponent", () => {
  const document = reportDocument({ ...reportOf("plain"), predictions_per_second: 1_204.7 });
  expect(toMarkdown(document)).toContain("| Samples | Predictions without a verdict | Trajectories |");
  expect(toMarkdown(document)).toContain("| Predictions a second | 1200 |");
});

test("evaluators of one family are told apart, repeats are said, and rows that are left out are counted", () => {
  const [found] = exampleReport.evaluators;
  if (found === undefined) throw new Error("The example has no evaluator");
  const evaluator = { ...found, profile_name: "system:default", profile_id: "1", profile_revision: 1 };
  const other = { ...evaluator, profile_name: "system:mdlm-exact", note: "Rough." };
  const step = { diverged: 1, censored: 0, survival: 0.5, interval: null, at_risk: 2 };
  const curve = { steps: Array.from({ length: 130 }, (_, index) => ({ ...step, step: index })), median: 0 };
  const endings = { diverged: 130, recording_ended: 0, prediction_failed: 0, evaluator_failed: 0 };
  const survival = { ...other, ...curve, trajectories: 260, endings, failures_as_divergence: curve, seed: 1 };
  const parts = reportDocument({
    ...exampleReport,
    run: { ...exampleReport.run, repeats: 2 },
    evaluators: [evaluator, other],
    survival: [{ ...survival, profile_name: "system:default" }, survival],
    teacher_forced: {
      run_id: exampleReport.run.id,
      name: "x",
      evaluators: [evaluator, other].map((one) => ({ ...one, step: [] })),
    },
  });
  const headings = parts.flatMap((part) => (part.kind === "heading" && part.level === 2 ? [part.text] : []));
  expect(new Set(headings).size).toBe(headings.length);
  expect(headings).toContain("exact-match system:mdlm-exact");
  expect(headings).toContain("First divergence by exact-match");
  expect(toMarkdown(parts)).toContain("0 lasted to the end of the recording.");
  const run = { ...exampleReport.run, status: "cancelled" as const };
  const cancelled = reportDocument({ ...exampleReport, run, survival: [survival] });
  expect(toMarkdown(cancelled)).toContain(
    "0 lasted to the end of the recording or of what the run has done.",
  );
  const rows = parts.flatMap((part) => (part.kind === "table" ? part.rows : []));
  expect(rows).toContainEqual(expect.arrayContaining(["exact-match", "default"]));
  expect(rows).toContainEqual(["Evaluators", found.evaluator]);
  const texts = parts.flatMap((part) => (part.kind === "paragraph" ? [part.text] : []));
  expect(texts).toContain("exact-match system:mdlm-exact: Rough.");
  expect(texts).toContain("30 more are not shown.");
  expect(texts).toContainEqual(
    expect.stringContaining("Of 260 trajectories, each repeat counted, 130 diverged"),
  );
  const forced =
    parts[parts.findIndex((part) => part.kind === "paragraph" && part.text.startsWith("Run x")) + 1];
  expect(forced).toMatchObject({
    rows: [expect.anything(), expect.arrayContaining(["system:mdlm-exact, revision 1"])],
  });
});

test("shares are percentages, and columns that say nothing are left out", () => {
  const [evaluator] = exampleReport.evaluators;
  const [step] = evaluator?.strata.step ?? [];
  if (evaluator === undefined || step === undefined) throw new Error("The example has no evaluator");
  const figures = {
    pass_rate: 0.5,
    mean: 0.5,
    pass_interval: { level: 0.95, lower: 0, upper: 0.875 },
    failed: 0,
  };
  const whole = { ...evaluator, ...figures };
  const rare = { ...step, ...figures, key: 1, trajectories: 2 };
  const common = { ...step, ...figures, key: 0, trajectories: 3, no_change: null };
  const strata = { ...evaluator.strata, step: [common, rare] };
  const tablesOf = (one: typeof evaluator) =>
    toMarkdown(reportDocument({ ...exampleReport, evaluators: [{ ...one, strata }] }));
  const passes = tablesOf(whole);
  expect(passes).toMatch(
    /\| Evaluator \| Pass rate \| Interval \|( No change \|)? Samples \| Trajectories \|/,
  );
  const baseline = { kind: "retrieval" as const, run_id: null, pass_rate: 0.4, interval: null, count: 8 };
  expect(tablesOf({ ...whole, baseline })).toContain("| 0 to 87.5 % | 40.0 % |");
  expect(passes).toContain("| Step | Pass rate | Interval | Samples | Trajectories |");
  expect(passes).toMatch(
    /\| 0 \| 50\.0 % \| 0 to 87\.5 % \| [\d of]+ \| 3 \|\n\nLeft out: 1 step with verdicts from fewer than 3 trajectories\./,
  );
  const scores = tablesOf({
    ...whole,
    mean: 0.25,
    interval: { level: 0.95, lower: 0.125, upper: 0.5 },
    failed: 1,
  });
  expect(scores).toContain("| Mean score | Interval of the mean | Mean with failures |");
  expect(scores).toContain("| 0.250 | 0.125 to 0.500 |");
  expect(scores).toContain("| Predictions without a verdict |");
});
