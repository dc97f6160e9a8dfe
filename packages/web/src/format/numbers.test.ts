import { expect, test } from "bun:test";
import { describeP, formatPoints } from "@presage/contract/describe-runs";
import {
  describeInterval,
  describeVerdicts,
  explainInterval,
  formatCost,
  formatDuration,
  formatP,
  formatScore,
  unbroken,
} from "./numbers.ts";

test.each([
  [0, "0 µs"],
  [0.84, "840 µs"],
  [0.9996, "1.0 ms"],
  [12.44, "12.4 ms"],
  [99.96, "100 ms"],
  [999.6, "1.00 s"],
  [1_234, "1.23 s"],
  [130_000, "130.0 s"],
])("%d ms is %s", (milliseconds, words) => {
  expect(formatDuration(milliseconds)).toBe(words);
});

test.each([
  [null, "USD", "–"],
  [0, "USD", "$0.00"],
  [0.000421, "USD", "$0.00042"],
  [0.004, "USD", "$0.0040"],
  [0.00999, "USD", "$0.01"],
  [12.345, "USD", "$12.35"],
  [1_234.5, "EUR", "€1,234.50"],
  [1_234.5, "JPY", "¥1,235"],
])("%p in %s is %s", (cost, currency, words) => {
  expect(formatCost(cost, currency)).toBe(words);
});

test("Differences are signed points, without a signed zero", () => {
  expect([0.0312, -0.5, 0, -0.000001, null].map(formatPoints)).toEqual(["+3.1", "−50.0", "0.0", "0.0", "–"]);
});

test("Scores have no signed zero and no zeros at the end", () => {
  expect([-0.0004, 0, 0.5, 0.8734, 12].map(formatScore)).toEqual(["0", "0", "0.5", "0.873", "12"]);
  expect(formatScore(null)).toBe("–");
});

test("Small p-values are bounds", () => {
  expect([0.0004, 0.0123, 1, null].map(formatP)).toEqual(["< 0.001", "0.012", "1.000", "–"]);
  expect([0.0004, 0.0123].map(describeP)).toEqual(["p < 0.001", "p = 0.012"]);
});

test("no line breaks within a percentage or a p-value", () => {
  expect(unbroken("at 95 % it is, p = 0.012, or p < 0.001")).toBe(
    "at 95\u00a0% it is, p\u00a0=\u00a00.012, or p\u00a0<\u00a00.001",
  );
});

const clustered = {
  passed: 1550,
  not_passed: 450,
  clusters: 100,
  interval_method: "clustered" as const,
  pass_rate_interval: { level: 0.95, lower: 0.6888, upper: 0.8428 },
};

test("a rate has its verdicts and, if there are any, its clusters", () => {
  expect(describeVerdicts(clustered)).toBe("2,000 verdicts in 100 clusters");
  expect(describeVerdicts({ ...clustered, clusters: 2_000 })).toBe("2,000 verdicts");
  expect(describeVerdicts({ ...clustered, clusters: 1 })).toBe("2,000 verdicts in 1 cluster");
  expect(describeVerdicts({ ...clustered, passed: 1, not_passed: 0, clusters: null })).toBe("1 verdict");
});

test("an interval that reaches an end has no decimals there", () => {
  expect(describeInterval({ lower: 0.6888, upper: 0.8428 })).toBe("68.9–84.3\u00a0%");
  expect(describeInterval({ lower: 0, upper: 1 })).toBe("0–100\u00a0%");
  expect(describeInterval({ lower: 1, upper: 1 })).toBe("100–100\u00a0%");
});

test("an interval says how it was made, and that few clusters make it uncertain", () => {
  expect(explainInterval(clustered)).toBe(
    "95\u00a0% confidence interval: 68.9–84.3\u00a0%. Verdicts about the same trajectory, otherwise the same sample, tend to agree, so they are taken as one group, a cluster.",
  );
  expect(explainInterval({ ...clustered, clusters: 9 })).toContain("few clusters");
  expect(explainInterval({ ...clustered, clusters: null, interval_method: "independent" })).toContain(
    "Every verdict is taken as independent",
  );
});

test("where there is no interval, the reason is said", () => {
  const none = { ...clustered, pass_rate_interval: null };
  expect(explainInterval({ ...none, clusters: 1 })).toContain("one trajectory or sample");
  expect(explainInterval({ ...none, clusters: null, interval_method: null })).toContain("too many results");
  expect(explainInterval({ ...none, passed: 0, not_passed: 0, clusters: 0 })).toBe("There are no verdicts.");
});
