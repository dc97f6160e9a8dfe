import { expect, test } from "bun:test";
import { describeInterval, describeVerdicts, explainInterval } from "./describe-rate.ts";

const clustered = {
  passed: 1550,
  not_passed: 450,
  clusters: 100,
  interval_method: "clustered" as const,
  pass_rate_interval: { level: 0.95, lower: 0.6888, upper: 0.8428 },
};

test("a rate has its verdicts and, if there are any, its clusters", () => {
  expect(describeVerdicts(clustered)).toBe("2,000 verdicts in 100 clusters");
  expect(describeVerdicts({ ...clustered, clusters: 1 })).toBe("2,000 verdicts in 1 cluster");
  expect(describeVerdicts({ ...clustered, passed: 1, not_passed: 0, clusters: null })).toBe("1 verdict");
});

test("an interval that reaches an end has no decimals there", () => {
  expect(describeInterval({ lower: 0.6888, upper: 0.8428 })).toBe("68.9–84.3 %");
  expect(describeInterval({ lower: 0, upper: 1 })).toBe("0–100 %");
});

test("an interval says how it was made, and that few clusters make it uncertain", () => {
  expect(explainInterval(clustered)).toBe(
    "95 % confidence interval: 68.9–84.3 %. Verdicts about the same trajectory, otherwise the same sample, tend to agree, so they are taken as one group, a cluster.",
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
