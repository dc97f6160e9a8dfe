import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { createCounter, createMetrics } from "./metrics.ts";

test("Series beyond the most that a counter keeps are counted as one other", async () => {
  const registry = new Registry();
  const increment = createCounter(registry, {
    name: "uses",
    help: "Uses.",
    labelNames: ["key"],
    maxSeries: 2,
  });
  for (const key of ["a", "b", "c", "d", "a"]) increment([key]);
  const [metric] = await registry.getMetricsAsJSON();
  expect(metric?.values.map(({ labels, value }) => [labels.key, value])).toEqual([
    ["a", 2],
    ["b", 1],
    ["other", 2],
  ]);
});

test("Whoever makes key after key does not fill the metrics with them", async () => {
  const { oldNames, registry } = createMetrics();
  for (let key = 0; key < 5_000; key++) oldNames([`key ${key}`]);
  const text = await registry.getSingleMetricAsString("presage_deprecated_requests_total");
  expect(text.split("\n").length).toBeLessThan(1_010);
  expect(text).toContain('presage_deprecated_requests_total{key_id="other"} 4000');
});
